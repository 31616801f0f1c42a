import { and, asc, eq, getTableColumns, not, type SQL, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { type Batch, loadById, loadMany, type NamedFind, type Readers } from '../../data/batch-loader.ts'
import { organizationsBy } from '../../data/by-organization.ts'
import { fewRowsOf, type JoinedRow, type Rows, rowJoiner, rowsOf } from '../../data/json-rows.ts'
import { Loader } from '../../data/loader.ts'
import { anyOf, type Find, inOrganizationIfNamed, isInMode, queryTogether } from '../../data/query.ts'
import { type Versioned, versionedLoaders } from '../../data/versioned-loader.ts'
import { type Database, perDatabase } from '../../database/database.ts'
import type { Loaders } from '../../request/loaders.ts'
import { groupBy } from '../../shared/group-by.ts'
import { events } from '../event/table.ts'
import {
  isStockOf,
  type Left,
  type ListedPrice,
  type ListedRate,
  leftColumns,
  type Price,
  prices,
  type Question,
  questions,
  type Stock,
  type Supplement,
  stock,
  supplements,
  type TicketRate,
  ticketRates,
} from './table.ts'

/** Columns of a rate with its stock counters. */
export const rateColumns = { ...getTableColumns(ticketRates), ...leftColumns }
const priceRows = fewRowsOf({ ...getTableColumns(prices), ...leftColumns })
const rateIdOf = ({ ticketRateId }: { ticketRateId: string }) => ticketRateId

/** Groups rows by the rate that they are listed under. */
export const byRate = <Row extends { ticketRateId: string }>(rows: Row[]) => groupBy(rows, rateIdOf)

/** Query for prices of the rates `keys`, in order, with their counters. Visible to anybody who may see the rate. */
export const ratePrices: Batch<Price> = {
  name: 'prices_by_ticket_rate_id',
  rows: priceRows,
  query: (select, keys) =>
    select
      .from(prices)
      .innerJoin(stock, isStockOf('price', prices.id))
      .where(
        and(
          inOrganizationIfNamed(stock.organizationId),
          anyOf(prices.ticketRateId, keys),
          not(prices.removed),
        ),
      )
      .orderBy(asc(prices.position), asc(prices.id)),
  key: rateIdOf,
}

type Part = typeof prices | typeof supplements | typeof questions

/** Query for rows of a table that were not removed and match a condition on the keys, in order. */
const listed =
  (table: typeof ticketRates | Part, isOf: (keys: string) => SQL): Find<unknown>['query'] =>
  (select, keys) =>
    select
      .from(table)
      .where(and(isOf(keys), not(table.removed)))
      .orderBy(asc(table.position), asc(table.id))

/** Query for what is listed under the rates `keys`, in order. Visible to anybody who may see the rate. */
const listedUnderRate = <Child extends Part>(name: string, child: Child): Batch<Child['$inferSelect']> => ({
  name,
  rows: fewRowsOf(getTableColumns<Part>(child)) as Rows<Child['$inferSelect']>,
  query: listed(child, (keys) => anyOf(child.ticketRateId, keys)),
  key: rateIdOf,
})
export const rateSupplements = listedUnderRate('supplements_by_ticket_rate_id', supplements)
export const rateQuestions = listedUnderRate('questions_by_ticket_rate_id', questions)

// These find removed rows too, because sold tickets may refer to them.
export const ticketRateById = loadById<TicketRate>('catalogue', {
  name: 'ticket_rate_by_id',
  rows: rowsOf(rateColumns),
  query: (select, keys) =>
    select
      .from(ticketRates)
      .innerJoin(stock, isStockOf('rate', ticketRates.id))
      .where(and(anyOf(ticketRates.id, keys), anyOf(ticketRates.organizationId, 'organizationIds'))),
})

export const priceById = loadById<Price>('catalogue', {
  name: 'price_by_id',
  rows: priceRows,
  query: (select, keys) =>
    select.from(prices).innerJoin(stock, isStockOf('price', prices.id)).where(anyOf(prices.id, keys)),
})

// Parts of rates by their own identifiers, within the organizations whose catalogue the caller sees.

const partRows = <Child extends Part>(child: Child) =>
  rowsOf(getTableColumns<Part>(child)) as Rows<Child['$inferSelect']>

const isVisible = (child: Part, keys: string) =>
  and(anyOf(child.id, keys), anyOf(ticketRates.organizationId, 'organizationIds'))

/** Loads prices with what decides whether their rates list them. */
export const visiblePriceById = loadById<Price & { showAllPrices: boolean }>('catalogue', {
  name: 'visible_price_by_id',
  rows: rowsOf({ ...getTableColumns(prices), ...leftColumns, showAllPrices: ticketRates.showAllPrices }),
  query: (select, keys) =>
    select
      .from(prices)
      .innerJoin(stock, isStockOf('price', prices.id))
      .innerJoin(ticketRates, eq(ticketRates.id, prices.ticketRateId))
      .where(isVisible(prices, keys)),
})

const partById = <Child extends Part>(name: string, child: Child) =>
  loadById<Child['$inferSelect']>('catalogue', {
    name,
    rows: partRows(child),
    query: (select, keys) =>
      select
        .from<Part>(child)
        .innerJoin(ticketRates, eq(ticketRates.id, child.ticketRateId))
        .where(isVisible(child, keys)),
  })
export const supplementById = partById('supplement_by_id', supplements)
export const questionById = partById('question_by_id', questions)

type StockRow = Left & Pick<Stock, 'id'>

/** Query for the counters of rates and prices, whose identifiers differ, in the mode of the caller. */
const stockById: NamedFind<StockRow> = {
  name: 'stock_by_id',
  rows: rowsOf({ id: stock.id, ...leftColumns }),
  query: (select, keys) => select.from(stock).where(and(anyOf(stock.id, keys), isInMode(stock.mode))),
}

/** A price whose counters are read apart from it. */
type UncountedPrice = JoinedRow<ListedPrice, Left>

const toUncounted = rowJoiner<ListedPrice, Left>(getTableColumns(prices), leftColumns)

/** Joins prices with their counters. Leaves out those that have none. */
function withStock(prices: UncountedPrice[], stockOf: Map<string, Left>): Price[] {
  const counted: Price[] = []
  for (const price of prices) {
    const left = stockOf.get(price.row.id)
    if (left) counted.push(price.with(left))
  }
  return counted
}

type OfferedRate = {
  rate: JoinedRow<ListedRate, Left>
  prices: UncountedPrice[]
  supplements: Supplement[]
  questions: Question[]
}
const toRate = rowJoiner<ListedRate, Left>(getTableColumns(ticketRates), leftColumns)

type Revision = { id: string; revision: string }

/** Everything listed under an event, in order, without the stock counters. */
type Offer = {
  rates: OfferedRate[]
  /** Identifiers of the rates and of their prices. */
  stockIds: string[]
}

const revisions: Find<Revision> = {
  rows: rowsOf({ id: events.id, revision: events.revision }),
  query: (select, keys) => select.from(events).where(anyOf(events.id, keys)),
}
const offerRates: Find<ListedRate> = {
  rows: rowsOf(getTableColumns(ticketRates)),
  query: listed(ticketRates, (keys) => anyOf(ticketRates.eventId, keys)),
}

/** Query for what is listed under the rates of the events `keys`. */
const findListed = <Child extends Part>(child: Child): Find<Child['$inferSelect']> => ({
  rows: partRows(child),
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

// One statement, and so one snapshot: offers and revisions match.
async function readOffers(db: Database, eventIds: string[]): Promise<Map<string, Versioned<Offer>>> {
  const found = await findOffers(db, { keys: eventIds })
  const [eventRevisions, rates] = found
  const ratesOf = groupBy(rates, (rate) => rate.eventId)
  const [prices, supplements, questions] = [byRate(found[2]), byRate(found[3]), byRate(found[4])]
  const offerOf = (eventId: string): Offer => {
    const rows = ratesOf.get(eventId) ?? []
    const offered = rows.map((rate) => ({
      rate: toRate(rate),
      prices: (prices.get(rate.id) ?? []).map(toUncounted),
      supplements: supplements.get(rate.id) ?? [],
      questions: questions.get(rate.id) ?? [],
    }))
    const stockIds = offered.flatMap(({ rate, prices }) => [rate, ...prices].map(({ row }) => row.id))
    return { rates: offered, stockIds }
  }
  return new Map(eventRevisions.map(({ id, revision }) => [id, { revision, value: offerOf(id) }]))
}

// Counts at least 1, because an empty offer is cached too.
const sizeOf = ({ rates, stockIds }: Offer): number =>
  rates.reduce((sum, { supplements, questions }) => sum + supplements.length + questions.length, 1) +
  stockIds.length

// Rows of all kinds that are cached for each event.
const rowsPerEvent = 10

/** Loads the offers of events whatever the caller reaches: anybody who may see an event may see its offer. */
const loadOffers = versionedLoaders<Offer>(({ rememberedEvents }) => rowsPerEvent * rememberedEvents, sizeOf)

export const pricesByTicketRateId = loadMany('catalogue', ratePrices)
export const supplementsByTicketRateId = loadMany('catalogue', rateSupplements)
export const questionsByTicketRateId = loadMany('catalogue', rateQuestions)

// Stock is read for each request, even if the rest of the offer is cached.
export function ticketRatesByEventId({ catalogue }: Readers, loaders: Loaders): Loader<TicketRate[]> {
  const offerByEventId = loadOffers(catalogue, (eventIds) => readOffers(catalogue.db, eventIds))
  return new Loader(async (eventIds) => {
    const offers = await offerByEventId.loadAll(eventIds)
    const ids = offers.flatMap((offer) => offer?.stockIds ?? [])
    const stockOf = new Map<string, Left>()
    for (const row of await catalogue.find(stockById, ids)) stockOf.set(row.id, row)
    return offers.map((offer) => {
      const rates: TicketRate[] = []
      for (const { rate, prices, supplements, questions } of offer?.rates ?? []) {
        const { id } = rate.row
        const left = stockOf.get(id)
        if (!left) continue
        rates.push(rate.with(left))
        loaders.get(pricesByTicketRateId).prime(id, withStock(prices, stockOf))
        loaders.get(supplementsByTicketRateId).prime(id, supplements)
        loaders.get(questionsByTicketRateId).prime(id, questions)
      }
      return rates
    })
  })
}

// Rates whose organization a process remembers.
const maxRemembered = 20_000

/** Reads the organization of a rate. Null if there is no such rate. */
export const readOrganizationOfRate = organizationsBy(
  'organization_of_ticket_rate',
  ticketRates.id,
  ticketRates.organizationId,
)

const organizationsOf = perDatabase(
  (db) =>
    new LRUCache<string, string>({
      max: maxRemembered,
      fetchMethod: async (id) => (await readOrganizationOfRate(db, id)) ?? undefined,
    }),
)

/** Finds the organization of a rate, which never changes and is remembered. Null if there is no such rate. */
export const organizationOfRate = async (db: Database, id: string): Promise<string | null> =>
  (await organizationsOf(db).fetch(id)) ?? null
