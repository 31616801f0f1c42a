import { whenKnown } from '../../data/loader.ts'
import { builder, enumOf, NodeRef, nullable, nullableTime, part, time } from '../../graphql/builder.ts'
import { argsOf } from '../../graphql/input-of.ts'
import { viaLoader } from '../../graphql/lookahead.ts'
import type { Context } from '../../request/context.ts'
import { EventRef } from '../event/graphql.ts'
import { eventById } from '../event/loaders.ts'
import {
  pricesByTicketRateId,
  questionsByTicketRateId,
  supplementsByTicketRateId,
  ticketRateById,
} from './loaders.ts'
import { ticketRatesByEventId } from './offer-loaders.ts'
import { AvailabilityRef, PriceRef, QuestionRef, SupplementRef } from './parts-graphql.ts'
import { currentPrice, isAvailable, visiblePrices } from './sale-rules.ts'
import type { Price, TicketRate } from './table.ts'
import type { RateAvailability } from './watch-rates.ts'
import { watchedRates, watchRates } from './watch-rates.ts'

const RateTypeRef = enumOf<TicketRate['type']>('TicketRateType', 'Kind of ticket rate.', {
  limited: 'The rate has a capacity: see `availability`.',
  unlimited: 'The rate has no capacity.',
})

const WarrantyRef = builder.objectRef<TicketRate>('RateWarranty').implement({
  description:
    'Optional warranty of a ticket: the buyer can get the money back until some hours before the event.',
  fields: (t) => ({
    enabled: t.exposeBoolean('warrantyEnabled', { description: 'True if the rate offers a warranty.' }),
    percentage: t.exposeFloat('warrantyPercentage', {
      description: 'Cost, as a percentage of price and supplements.',
    }),
    hours: t.exposeInt('warrantyHours', {
      description: 'Number of hours before the start of the event at which the warranty ends.',
    }),
  }),
})

export const TicketRateRef = builder.objectRef<TicketRate>('TicketRate')

const idOf = ({ id }: { id: string }) => id

const loadPrices = (rates: TicketRate[], { loaders }: Context) =>
  loaders.get(pricesByTicketRateId).loadAll(rates.map(idOf))

const pricesOf = ({ id }: TicketRate, { loaders }: Context) => loaders.get(pricesByTicketRateId).get(id)

/** Resolves a field from the prices of a rate, with its lookahead. */
const fromPrices = <Value>(read: (rate: TicketRate, prices: Price[], now: Date) => Value) => ({
  extensions: { preload: loadPrices },
  resolve: (rate: TicketRate, _args: object, ctx: Context) =>
    whenKnown(pricesOf(rate, ctx), (prices) => read(rate, prices, ctx.now)),
})

TicketRateRef.implement({
  description: 'Kind of ticket for an event, with its own stock and prices.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: ticketRateById } },
  fields: (t) => ({
    organizationId: t.exposeID('organizationId', {
      description: 'Identifier of the organization that sells the rate.',
    }),
    eventId: t.exposeID('eventId', { description: 'Identifier of the event.' }),
    name: t.exposeString('name', { description: 'Display name.' }),
    slug: t.exposeString('slug', { description: 'URL-friendly name.' }),
    validFrom: t.expose('validFrom', nullableTime('Start of the sale; null if the sale has no start time.')),
    admits: t.exposeInt('admits', { description: 'Number of people that a ticket admits.' }),
    transferable: t.exposeBoolean('transferable', {
      description: 'True if a ticket may be given to another person.',
    }),
    complete: t.exposeBoolean('complete', {
      description: 'True if the sale was closed by hand, whatever stock is left.',
    }),
    type: t.expose('type', { type: RateTypeRef, description: 'Whether the rate has a capacity.' }),
    min: t.exposeInt('min', nullable('Minimum number of tickets per checkout; null means 1.')),
    max: t.exposeInt(
      'max',
      nullable('Maximum number of tickets per checkout; never more than 50, which null means.'),
    ),
    showAllPrices: t.exposeBoolean('showAllPrices', {
      description: 'True if `prices` lists all prices; false if it lists only the current one.',
    }),
    available: t.boolean({
      description: 'True if the rate can be bought now.',
      extensions: {
        preload: (rates, ctx) =>
          Promise.all([
            ctx.loaders.get(eventById).loadAll(rates.map(({ eventId }) => eventId)),
            loadPrices(rates, ctx),
          ]),
      },
      resolve: (rate, _args, ctx) =>
        whenKnown(ctx.loaders.get(eventById).get(rate.eventId), (event) =>
          whenKnown(
            pricesOf(rate, ctx),
            (prices) => event !== null && isAvailable(rate, event, prices, ctx.now),
          ),
        ),
    }),
    availability: t.field(part(AvailabilityRef, 'Number of places sold and left.')),
    warranty: t.field(part(WarrantyRef, 'Warranty that the rate offers.')),
    event: t.field({
      type: EventRef,
      ...nullable('Event of the ticket rate.'),
      // Leads back up the graph, so the selection below it repeats for each rate of the event.
      complexity: { field: 1, multiplier: 10 },
      ...viaLoader(eventById, (rate: TicketRate) => rate.eventId),
    }),
    prices: t.field({
      type: [PriceRef],
      description: 'Prices in order of position; only the current one unless `showAllPrices`.',
      ...fromPrices(visiblePrices),
    }),
    currentPrice: t.field({
      type: PriceRef,
      nullable: true,
      description:
        'First price by position that has not passed `validUntil` and is not used up; null if there is none.',
      ...fromPrices((_rate, prices, now) => currentPrice(prices, now)),
    }),
    supplements: t.field({
      type: [SupplementRef],
      description: 'Extras that can be bought with a ticket.',
      ...viaLoader(supplementsByTicketRateId, idOf),
    }),
    questions: t.field({
      type: [QuestionRef],
      description: 'Questions that the buyer answers for each ticket.',
      ...viaLoader(questionsByTicketRateId, idOf),
    }),
  }),
})

builder.objectField(EventRef, 'ticketRates', (t) =>
  t.field({
    type: [TicketRateRef],
    description: 'Ticket rates of the event.',
    ...viaLoader(ticketRatesByEventId, idOf),
  }),
)

builder.queryField('ticketRate', (t) =>
  t.field({
    type: TicketRateRef,
    nullable: true,
    extensions: { needs: { caller: 'any', scope: 'catalogue', shared: true } },
    description:
      'Finds a ticket rate by its identifier. Null if it does not exist or is not visible to the caller.',
    args: { id: t.arg.id({ required: true, description: 'Ticket rate identifier.' }) },
    resolve: (_root, { id }, ctx) => ctx.loaders.load(ticketRateById, id),
  }),
)

const RateAvailabilityRef = builder.objectRef<RateAvailability>('RateAvailability').implement({
  description: 'Places of a ticket rate at a time.',
  fields: (t) => ({
    ticketRateId: t.exposeID('ticketRateId', { description: 'Identifier of the ticket rate.' }),
    available: t.exposeBoolean('available', { description: 'True if the rate can be bought now.' }),
    sold: t.exposeInt('sold', {
      description: 'Number of places sold, here and elsewhere before the import.',
    }),
    left: t.exposeInt('left', nullable('Number of places left after sales and holds; null if unlimited.')),
    at: t.expose('at', time("Time of these numbers, by the database's clock.")),
  }),
})

builder.subscriptionField('rateAvailability', (t) =>
  t.field({
    type: RateAvailabilityRef,
    description:
      'Tells how many places of ticket rates are left: of each rate at once, and again whenever that changes. A later state replaces an earlier one that was not sent yet. Refuses rates that the caller does not see with `NOT_FOUND`.',
    extensions: {
      needs: {
        caller: 'any',
        scope: 'catalogue',
        stream: { latestBy: ({ ticketRateId }: RateAvailability) => ticketRateId },
      },
    },
    args: argsOf(t.arg, watchedRates),
    subscribe: (_root, args, ctx) => watchRates(args, ctx),
    resolve: (rate) => rate,
  }),
)
