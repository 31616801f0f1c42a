import { z } from 'zod'
import { toMoney } from '../../engine/base/money.ts'
import { parse } from '../../engine/base/parse.ts'
import { whenKnown } from '../../engine/data/loader.ts'
import {
  builder,
  enumOf,
  fieldOf,
  MoneyRef,
  NodeRef,
  nullable,
  nullableTime,
  part,
  queryField,
  subscriptionField,
  time,
} from '../../engine/graphql/builder.ts'
import { argsOf, inputOf } from '../../engine/graphql/input-of.ts'
import { viaId, viaLoader } from '../../engine/graphql/lookahead.ts'
import { type Context, loadNamed, reaches } from '../caller/context.ts'
import { EventRef } from '../event/graphql.ts'
import { eventById } from '../event/loaders.ts'
import type { Event } from '../event/table.ts'
import {
  pricesByTicketRateId,
  questionsByTicketRateId,
  supplementsByTicketRateId,
  ticketRateById,
} from './loaders.ts'
import { ticketRatesByEventId } from './offer-loaders.ts'
import { AvailabilityRef, PriceRef, QuestionRef, SupplementRef } from './parts-graphql.ts'
import {
  currentPrice,
  isAvailable,
  type RateStatus,
  rateStatus,
  rateStatuses,
  totalAmountOf,
  visiblePrices,
  warrantyEnd,
} from './sale-rules.ts'
import { maxTickets, type Price, type TicketRate } from './table.ts'
import { type WatchedRate, watchedRates, watchRates } from './watch-rates.ts'

const RateStatusRef = enumOf<RateStatus>(
  'TicketRateStatus',
  'Whether a ticket rate can be bought. Values may be added: treat an unknown one as not on sale.',
  rateStatuses,
)

const RateTypeRef = enumOf<TicketRate['type']>(
  'TicketRateType',
  'Whether a ticket rate has a capacity. Values may be added: treat an unknown one as `LIMITED`.',
  {
    limited: 'The rate has a capacity: see `availability`.',
    unlimited: 'The rate has no capacity.',
  },
)

const idOf = ({ id }: { id: string }) => id
const organizationOf = ({ organizationId }: TicketRate) => organizationId
const eventIdOf = ({ eventId }: TicketRate) => eventId

const pricesOf = ({ id }: TicketRate, { loaders }: Context) => loaders.get(pricesByTicketRateId).get(id)

const WarrantyRef = builder.objectRef<TicketRate>('Warranty').implement({
  description:
    'Optional warranty of a ticket: the buyer can get the money back until some hours before the event.',
  fields: (t) => ({
    percentage: t.exposeFloat('warrantyPercentage', {
      description: 'Cost, as a percentage of price and supplements.',
    }),
    endsAt: t.field({
      ...time('Time until which a ticket can be returned.'),
      ...viaLoader(eventById, eventIdOf, (event, rate) => warrantyEnd(event as Event, rate)),
    }),
  }),
})

export const TicketRateRef = builder.objectRef<TicketRate>('TicketRate')

/** Resolves a field from whatever decides if a rate can be bought, with its lookahead. */
function fromSale<Value>(read: (...sale: Parameters<typeof rateStatus>) => Value) {
  const prices = viaLoader(pricesByTicketRateId, idOf)
  // A rate is visible with its event alone.
  const { extensions, resolve } = viaLoader(eventById, eventIdOf, (event, rate, ctx) =>
    whenKnown(pricesOf(rate, ctx), (prices) => read(rate, event as Event, prices, ctx.now)),
  )
  const preload = (rates: TicketRate[], ctx: Context) =>
    Promise.all([extensions.preload(rates, ctx), prices.extensions.preload(rates, ctx)])
  return { extensions: { preload }, resolve }
}

TicketRateRef.implement({
  description:
    'Kind of ticket for an event, such as general admission or VIP, with its own places and prices.',
  interfaces: [NodeRef],
  extensions: { node: { scope: 'catalogue', load: ticketRateById, organizationOf } },
  fields: (t) => ({
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
    minPerCheckout: t.int({
      description: 'Minimum number of tickets per checkout.',
      resolve: ({ min }) => min ?? 1,
    }),
    maxPerCheckout: t.int({
      description: `Maximum number of tickets per checkout; never more than ${maxTickets}.`,
      resolve: ({ max }) => Math.min(max ?? maxTickets, maxTickets),
    }),
    showAllPrices: t.exposeBoolean('showAllPrices', {
      description: 'True if `prices` lists all prices; false if it lists only the current one.',
    }),
    status: t.field({
      type: RateStatusRef,
      description: 'Whether the rate can be bought now, or why not.',
      ...fromSale(rateStatus),
    }),
    available: t.boolean({
      description: 'True if the rate can be bought now: its `status` is `ON_SALE`.',
      ...fromSale(isAvailable),
    }),
    availability: t.field(part(AvailabilityRef, 'Number of places sold and left.')),
    warranty: t.field({
      type: WarrantyRef,
      ...nullable('Warranty that can be bought with a ticket; null if the rate offers none.'),
      resolve: (rate) => (rate.warrantyEnabled ? rate : null),
    }),
    event: t.field({
      type: EventRef,
      description: 'Event of the ticket rate.',
      // Leads back up the graph, so the selection below it repeats for each rate of the event.
      complexity: { field: 1, multiplier: 10 },
      ...viaId(eventById, eventIdOf),
    }),
    prices: t.field({
      type: [PriceRef],
      description: 'Prices in order of position; only the current one unless `showAllPrices`.',
      ...viaLoader(pricesByTicketRateId, idOf, (prices, rate: TicketRate, { now }) =>
        visiblePrices(rate, prices, now),
      ),
    }),
    currentPrice: t.field({
      type: PriceRef,
      nullable: true,
      description:
        'First price by position that has not passed `validUntil` and is not used up; null if there is none.',
      ...viaLoader(pricesByTicketRateId, idOf, (prices, _rate, { now }) => currentPrice(prices, now)),
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

fieldOf(EventRef, 'ticketRates', {
  type: [TicketRateRef],
  description:
    'Ticket rates of the event; none once the organization has withdrawn the access of the calling channel.',
  ...viaLoader(ticketRatesByEventId, idOf, (rates, { organizationId }: Event, ctx) =>
    reaches(ctx, organizationId) ? rates : [],
  ),
})

queryField('ticketRate', {
  type: TicketRateRef,
  needs: { caller: 'any', scope: 'catalogue', shared: true },
  description:
    'Finds a ticket rate by its identifier. Null if it does not exist or is not visible to the caller.',
  args: builder.args((t) => ({ id: t.id({ required: true, description: 'Ticket rate identifier.' }) })),
  resolve: (_root, { id }, ctx) => loadNamed(ctx, ticketRateById, id),
})

const watchArgs = z.object({ of: watchedRates.describe('Which to stream.') })
inputOf('RatesBy', watchedRates, { isOneOf: true })

subscriptionField('ticketRates', {
  type: TicketRateRef,
  description:
    'Streams ticket rates with what is left of them: each as it is at once, and again whenever its places or its status change. A later state replaces an earlier one that was not sent yet. Refuses rates that the caller does not see with `NOT_FOUND`.',
  needs: { caller: 'any', scope: 'catalogue', stream: { latestBy: ({ id }: WatchedRate) => id } },
  args: argsOf(watchArgs),
  subscribe: (_root, args, ctx) => watchRates(parse(watchArgs, args).of, ctx),
  resolve(rate: WatchedRate, _args, ctx) {
    // Each state has a context of its own, whose time is that of its read.
    ctx.now = rate.readAt
    ctx.loaders.get(pricesByTicketRateId).prime(rate.id, rate.prices)
    return rate
  },
})

const totalOf = (price: Price) => toMoney(totalAmountOf(price), price.currency)

const PriceRangeRef = builder.objectRef<{ min: Price; max: Price }>('PriceRange').implement({
  description: 'Lowest and highest of some prices, fees included.',
  fields: (t) => ({
    min: t.field({ type: MoneyRef, description: 'Lowest total.', resolve: ({ min }) => totalOf(min) }),
    max: t.field({ type: MoneyRef, description: 'Highest total.', resolve: ({ max }) => totalOf(max) }),
  }),
})

fieldOf(EventRef, 'priceRange', {
  type: PriceRangeRef,
  ...nullable('Range of the current prices of the rates that are on sale; null if none is.'),
  ...viaLoader(ticketRatesByEventId, idOf, async (rates, event: Event, ctx) => {
    if (!reaches(ctx, event.organizationId)) return null
    const prices = await ctx.loaders.get(pricesByTicketRateId).loadAll(rates.map(idOf))
    const current = rates.flatMap((rate, index) => {
      const price = currentPrice(prices[index] ?? [], ctx.now)
      return price && isAvailable(rate, event, prices[index] ?? [], ctx.now) ? price : []
    })
    const [min, ...others] = current.sort((one, other) => totalAmountOf(one) - totalAmountOf(other))
    return min ? { min, max: others.at(-1) ?? min } : null
  }),
})
