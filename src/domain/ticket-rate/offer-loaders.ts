import { and, asc, eq, getTableColumns, not, sql } from 'drizzle-orm'
import type { Reader } from '../../data/batch-loader.ts'
import { type JoinedRow, type Rows, rowJoiner, rowsOf } from '../../data/json-rows.ts'
import type { Loader } from '../../data/loader.ts'
import { anyOf, type Find, type Finds, findTogether } from '../../data/prepared.ts'
import { type Versioned, versionedLoaders } from '../../data/versioned-loader.ts'
import type { Database } from '../../database/database.ts'
import { groupBy } from '../../shared/group-by.ts'
import { events } from '../event/table.ts'
import { toUncounted, type UncountedPrice } from './stock-loaders.ts'
import {
  type Left,
  type ListedPrice,
  type ListedRate,
  leftColumns,
  prices,
  type Question,
  questions,
  type Supplement,
  supplements,
  ticketRates,
} from './table.ts'

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
  /** Ids of the stock rows: each rate, followed by its prices. */
  stockIds: string[]
}

const revisions: Find<Revision> = {
  rows: rowsOf({ id: events.id, revision: events.revision }),
  query: (select, keys) => select.from(events).where(anyOf(events.id, keys)),
}
const offerRates: Find<ListedRate> = {
  rows: rowsOf(getTableColumns(ticketRates)),
  query: (select, keys) =>
    select
      .from(ticketRates)
      .where(and(anyOf(ticketRates.eventId, keys), not(ticketRates.removed)))
      .orderBy(asc(ticketRates.position), asc(ticketRates.id)),
}

type Child = typeof prices | typeof supplements | typeof questions

/** Query for what is listed under the rates of the events `keys`. */
const findListed = <Row>(child: Child, rows: Rows<Row>): Find<Row> => ({
  rows,
  query: (select, keys) => {
    const rateIds = sql`array(select ${ticketRates.id} from ${ticketRates}
      where ${anyOf(ticketRates.eventId, keys)} and not ${ticketRates.removed})`
    return select
      .from(child)
      .where(and(eq(child.ticketRateId, sql`any(${rateIds})`), not(child.removed)))
      .orderBy(asc(child.position), asc(child.id))
  },
})

const findOffers: Finds<[Revision, ListedRate, ListedPrice, Supplement, Question]> = [
  revisions,
  offerRates,
  findListed(prices, rowsOf(getTableColumns(prices))),
  findListed(supplements, rowsOf(getTableColumns(supplements))),
  findListed(questions, rowsOf(getTableColumns(questions))),
]

const byRate = <Row extends { ticketRateId: string }>(rows: Row[]) => groupBy(rows, (row) => row.ticketRateId)

// One statement, and so one snapshot: offers and revisions match.
async function readOffers(db: Database, eventIds: string[]): Promise<Map<string, Versioned<Offer>>> {
  const found = await findTogether(db, 'offers_by_event_id', findOffers, { keys: eventIds })
  const [eventRevisions, rates] = found
  const ratesOf = groupBy(rates, (rate) => rate.eventId)
  const [prices, supplements, questions] = [byRate(found[2]), byRate(found[3]), byRate(found[4])]
  const offerOf = (eventId: string): Offer => {
    const rows = ratesOf.get(eventId) ?? []
    const listed = rows.map((rate) => ({
      rate: toRate(rate),
      prices: (prices.get(rate.id) ?? []).map(toUncounted),
      supplements: supplements.get(rate.id) ?? [],
      questions: questions.get(rate.id) ?? [],
    }))
    const stockIds = listed.flatMap(({ rate, prices }) => [rate.row.id, ...prices.map(({ row }) => row.id)])
    return { rates: listed, stockIds }
  }
  return new Map(eventRevisions.map(({ id, revision }) => [id, { revision, value: offerOf(id) }]))
}

// Counts at least 1, because an empty offer is cached too.
const sizeOf = ({ rates, stockIds }: Offer): number => {
  const others = rates.map(({ supplements, questions }) => supplements.length + questions.length)
  return 1 + stockIds.length + others.reduce((sum, count) => sum + count, 0)
}

// Rows of all kinds that are cached for each event.
const rowsPerEvent = 10

const load = versionedLoaders<Offer>(({ rememberedEvents }) => rowsPerEvent * rememberedEvents, sizeOf)

/** Loads the offers of events without a scope: anybody who may see an event may see its offer. */
export const loadOffers = (reader: Reader): Loader<Offer | null> =>
  load(reader, (eventIds) => readOffers(reader.db, eventIds))
