// Offers of events: everything listed under an event, which a process caches by the event's revision, joined with its stock,
// which is read for each request.

import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { byId, groupBy } from '../../engine/base/group-by.ts'
import type { NamedFind, Readers } from '../../engine/data/batch-loader.ts'
import { byOrganization } from '../../engine/data/by-organization.ts'
import { type Rows, rowJoiner, rowsOf } from '../../engine/data/json-rows.ts'
import { Loader } from '../../engine/data/loader.ts'
import { anyOf, type Find, inOrganizationIfNamed, queryTogether } from '../../engine/data/query.ts'
import { versionedLoaders } from '../../engine/data/versioned-loader.ts'
import type { Database } from '../../engine/database/database.ts'
import type { Loaders } from '../../engine/request/loaders.ts'
import { isInMode } from '../caller/sold.ts'
import { events } from '../event/table.ts'
import { type Counters, counterColumns, stock } from '../stock/table.ts'
import {
  byRate,
  listed,
  type Part,
  pricesByTicketRateId,
  questionsByTicketRateId,
  supplementsByTicketRateId,
} from './loaders.ts'
import {
  type ListedPrice,
  type ListedRate,
  type Price,
  prices,
  type Question,
  questions,
  type Supplement,
  supplements,
  type TicketRate,
  ticketRates,
} from './table.ts'

/** Query for the counters of rates and prices, whose identifiers differ, in the mode of the caller. */
const stockById: NamedFind<Counters & { id: string }> = {
  name: 'stock_by_id',
  rows: rowsOf({ id: stock.id, ...counterColumns }),
  query: (select, keys) =>
    select
      .from(stock)
      .where(and(inOrganizationIfNamed(stock.organizationId), anyOf(stock.id, keys), isInMode(stock.mode))),
}

const joinPrice = rowJoiner<ListedPrice, Counters>(getTableColumns(prices), counterColumns)
const joinRate = rowJoiner<ListedRate, Counters>(getTableColumns(ticketRates), counterColumns)

/** Joins prices with their counters. Leaves out those that have none. */
function withStock(prices: ListedPrice[], stockOf: Map<string, Counters>): Price[] {
  const counted: Price[] = []
  for (const price of prices) {
    const counters = stockOf.get(price.id)
    if (counters) counted.push(joinPrice(price, counters))
  }
  return counted
}

type Revision = { id: string; organizationId: string; revision: string }

const revisions: Find<Revision> = {
  rows: rowsOf({ id: events.id, organizationId: events.organizationId, revision: events.revision }),
  query: (select, keys) => select.from(events).where(anyOf(events.id, keys)),
}
const offerRates: Find<ListedRate> = {
  rows: rowsOf(getTableColumns(ticketRates)),
  query: listed(ticketRates, (keys) => anyOf(ticketRates.eventId, keys)),
}

/** Query for what is listed under the rates of the events `keys`. */
const findListed = <Child extends Part>(child: Child): Find<Child['$inferSelect']> => ({
  rows: rowsOf(getTableColumns<Part>(child)) as Rows<Child['$inferSelect']>,
  query: listed(child, (keys) => {
    const rateIds = sql`array(select ${ticketRates.id} from ${ticketRates}
      where ${anyOf(ticketRates.eventId, keys)} and not ${ticketRates.removed})`
    return eq(child.ticketRateId, sql`any(${rateIds})`)
  }),
})

const findOffers = queryTogether<[Revision, ListedRate, ListedPrice, Supplement, Question]>(
  'offers_by_event_id',
  [revisions, offerRates, findListed(prices), findListed(supplements), findListed(questions)],
)

/** Everything listed under an event, in order, without the stock counters. `stockIds` are those of the rates and of their
 *  prices. */
type Offer = Awaited<ReturnType<typeof readOffers>>[number]

// One statement, and so one snapshot: offers and revisions match.
async function readOffers(db: Database, eventIds: string[]) {
  const found = await findOffers(db, { keys: eventIds })
  const [eventRevisions, rates] = found
  const ratesOf = groupBy(rates, (rate) => rate.eventId)
  const [prices, supplements, questions] = [byRate(found[2]), byRate(found[3]), byRate(found[4])]
  return eventRevisions.map((event) => {
    const rows = ratesOf.get(event.id) ?? []
    const offered = rows.map((rate) => ({
      rate,
      prices: prices.get(rate.id) ?? [],
      supplements: supplements.get(rate.id) ?? [],
      questions: questions.get(rate.id) ?? [],
    }))
    const stockIds = offered.flatMap(({ rate, prices }) => [rate, ...prices].map(({ id }) => id))
    return { ...event, rates: offered, stockIds }
  })
}

// Counts at least 1, because an empty offer is cached too.
const sizeOf = ({ rates, stockIds }: Offer): number =>
  rates.reduce((sum, { supplements, questions }) => sum + supplements.length + questions.length, 1) +
  stockIds.length

const rowsPerEvent = 10

/** Loads the offers of events whatever the caller reaches: anybody who may see an event may see its offer. */
const loadOffers = versionedLoaders<Offer>((rememberedEvents) => rowsPerEvent * rememberedEvents, sizeOf)

export function ticketRatesByEventId({ shared }: Readers, loaders: Loaders): Loader<TicketRate[]> {
  const offerByEventId = loadOffers(shared, async (eventIds) => byId(await readOffers(shared.db, eventIds)))
  return new Loader(async (eventIds) => {
    const offers = await offerByEventId.loadAll(eventIds)
    const owned = offers.flatMap((offer) =>
      offer ? { organizationId: offer.organizationId, keys: offer.stockIds } : [],
    )
    const rows = await byOrganization(shared.db, owned, (own, organizationId) => {
      const keys = own.flatMap(({ keys }) => keys)
      return shared.find(stockById, keys, organizationId)
    })
    const stockOf = byId(rows)
    const [ofPrices, ofSupplements, ofQuestions] = [
      loaders.get(pricesByTicketRateId),
      loaders.get(supplementsByTicketRateId),
      loaders.get(questionsByTicketRateId),
    ]
    return offers.map((offer) => {
      const rates: TicketRate[] = []
      for (const { rate, prices, supplements, questions } of offer?.rates ?? []) {
        const counters = stockOf.get(rate.id)
        if (!counters) continue
        ofPrices.prime(rate.id, withStock(prices, stockOf))
        ofSupplements.prime(rate.id, supplements)
        ofQuestions.prime(rate.id, questions)
        rates.push(joinRate(rate, counters))
      }
      return rates
    })
  })
}
