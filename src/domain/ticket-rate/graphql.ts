import { whenKnown } from '../../data/loader.ts'
import { builder, NodeRef } from '../../graphql/builder.ts'
import { viaLoader } from '../../graphql/lookahead.ts'
import { type Context, requireCaller } from '../../request/context.ts'
import { EventRef } from '../event/graphql.ts'
import { eventById } from '../event/loaders.ts'
import { currentPrice, isAvailable, leftOf, listedPrices } from './current-price.ts'
import {
  pricesByTicketRateId,
  questionsByTicketRateId,
  supplementsByTicketRateId,
  ticketRateById,
  ticketRatesByEventId,
} from './loaders.ts'
import { PriceRef, QuestionRef, SupplementRef } from './parts-graphql.ts'
import type { TicketRate } from './table.ts'

const AvailabilityRef = builder.objectRef<TicketRate>('Availability').implement({
  description: 'How many places are sold and left.',
  fields: (t) => ({
    sold: t.int({ description: 'Paid tickets.', resolve: (rate) => rate.soldBefore + rate.sold }),
    available: t.int({
      nullable: true,
      description: 'What is left after paid tickets and holds; null is unlimited.',
      resolve: leftOf,
    }),
  }),
})

const WarrantyRef = builder.objectRef<TicketRate>('RateWarranty').implement({
  description:
    'A warranty that can be bought with a ticket: its money comes back until some hours before the event.',
  fields: (t) => ({
    enabled: t.exposeBoolean('warrantyEnabled', { description: 'Whether it is offered.' }),
    percentage: t.exposeFloat('warrantyPercentage', {
      description: 'What it costs: per cent of price and supplements.',
    }),
    hours: t.exposeInt('warrantyHours', { description: 'How many hours before the start it ends.' }),
  }),
})

export const TicketRateRef = builder.objectRef<TicketRate>('TicketRate')

const idOf = ({ id }: { id: string }) => id

const loadPrices = (rates: TicketRate[], { loaders }: Context) =>
  loaders.get(pricesByTicketRateId).loadAll(rates.map(idOf))

TicketRateRef.implement({
  description: 'A kind of ticket for an event.',
  interfaces: [NodeRef],
  fields: (t) => ({
    organizationId: t.exposeID('organizationId', { description: 'The organization that sells it.' }),
    eventId: t.exposeID('eventId', { description: 'The event that it is for.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    slug: t.exposeString('slug', { description: 'Its name as part of an address.' }),
    validFrom: t.expose('validFrom', {
      type: 'DateTime',
      nullable: true,
      description: 'When its sale begins.',
    }),
    complete: t.exposeBoolean('complete', { description: 'Closed by hand.' }),
    type: t.exposeString('type', { description: '`limited`, as a rule.' }),
    min: t.exposeInt('min', { nullable: true, description: 'The fewest tickets of a checkout; null is 1.' }),
    max: t.exposeInt('max', { nullable: true, description: 'The most tickets of a checkout; null is 50.' }),
    showAllPrices: t.exposeBoolean('showAllPrices', {
      description: 'Whether `prices` lists more than the current one.',
    }),
    available: t.boolean({
      description: 'Whether it can be bought now.',
      extensions: {
        preload: (rates, ctx) =>
          Promise.all([
            ctx.loaders.get(eventById).loadAll(rates.map(({ eventId }) => eventId)),
            loadPrices(rates, ctx),
          ]),
      },
      resolve: (rate, _args, { loaders, now }) =>
        whenKnown(loaders.get(eventById).get(rate.eventId), (event) =>
          whenKnown(
            loaders.get(pricesByTicketRateId).get(rate.id),
            (prices) => event !== null && isAvailable(rate, event, prices, now),
          ),
        ),
    }),
    availability: t.field({
      type: AvailabilityRef,
      description: 'How many are sold and left.',
      resolve: (rate) => rate,
    }),
    warranty: t.field({
      type: WarrantyRef,
      description: 'The warranty that it offers.',
      resolve: (rate) => rate,
    }),
    event: t.field({
      type: EventRef,
      nullable: true,
      // It leads back up: what is asked for below it is answered again for each rate of the event.
      complexity: { field: 1, multiplier: 10 },
      description: 'The event that it is for.',
      ...viaLoader(eventById, (rate: TicketRate) => rate.eventId),
    }),
    prices: t.field({
      type: [PriceRef],
      description: 'Its prices, in order.',
      extensions: { preload: loadPrices },
      resolve: (rate, _args, { loaders, now }) =>
        whenKnown(loaders.get(pricesByTicketRateId).get(rate.id), (prices) =>
          listedPrices(rate, prices, now),
        ),
    }),
    currentPrice: t.field({
      type: PriceRef,
      nullable: true,
      description: 'The first, by position, that has not passed `validUntil` and is not used up.',
      extensions: { preload: loadPrices },
      resolve: (rate, _args, { loaders, now }) =>
        whenKnown(loaders.get(pricesByTicketRateId).get(rate.id), (prices) => currentPrice(prices, now)),
    }),
    supplements: t.field({
      type: [SupplementRef],
      description: 'What can be bought with a ticket.',
      ...viaLoader(supplementsByTicketRateId, idOf),
    }),
    questions: t.field({
      type: [QuestionRef],
      description: 'What a buyer is asked.',
      ...viaLoader(questionsByTicketRateId, idOf),
    }),
  }),
})

builder.objectField(EventRef, 'ticketRates', (t) =>
  t.field({
    type: [TicketRateRef],
    description: 'The kinds of tickets that there are for it.',
    ...viaLoader(ticketRatesByEventId, idOf),
  }),
)

builder.queryField('ticketRate', (t) =>
  t.field({
    type: TicketRateRef,
    nullable: true,
    extensions: { shared: true },
    description: 'One ticket rate.',
    args: { id: t.arg.id({ required: true, description: 'Its identifier.' }) },
    resolve: (_root, { id }, ctx) => requireCaller(ctx) && ctx.loaders.load(ticketRateById, id),
  }),
)
