import { and, asc, eq, getTableColumns, not, type SQL } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { type Batch, loadMany, loadOne, type Readers } from '../../data/batch-loader.ts'
import { fewRowsOf, type Rows, rowsOf } from '../../data/json-rows.ts'
import { Loader } from '../../data/loader.ts'
import { anyOf } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { perDatabase } from '../../database/per-database.ts'
import type { Loaders } from '../../request/loaders.ts'
import { type Mode, perMode } from '../../shared/mode.ts'
import { loadOffers } from './offer-loaders.ts'
import { byCounted, stockById, stockIds, withStock } from './stock-loaders.ts'
import {
  isStockOf,
  leftColumns,
  type Price,
  prices,
  questions,
  stock,
  supplements,
  type TicketRate,
  ticketRates,
} from './table.ts'

/** Columns of a rate with its stock counters. */
export const rateColumns = { ...getTableColumns(ticketRates), ...leftColumns }
const priceRows = fewRowsOf({ ...getTableColumns(prices), ...leftColumns })
const rateIdOf = ({ ticketRateId }: { ticketRateId: string }) => ticketRateId

/** Name of a statement in a mode: each mode has its own counters, and so its own text. */
export const nameIn = (mode: Mode, name: string): string => (mode === 'test' ? `${name}_in_test` : name)

/** Query for prices of the rates `keys`, in order, whose counters match a condition. */
export const pricesWhere = (mode: Mode, condition?: SQL): Batch<Price> => ({
  name: nameIn(mode, 'prices_by_ticket_rate_id'),
  rows: priceRows,
  query: (select, keys) =>
    select
      .from(prices)
      .innerJoin(stock, isStockOf(mode, prices.id))
      .where(and(condition, anyOf(prices.ticketRateId, keys), not(prices.removed)))
      .orderBy(asc(prices.position), asc(prices.id)),
  key: rateIdOf,
})

/** Queries for what is listed under the rates `keys`, in order. Visible to anybody who may see the rate. */
export const ratePrices: Record<Mode, Batch<Price>> = perMode((mode) => pricesWhere(mode))
const listedUnderRate = <Row extends { ticketRateId: string }>(
  name: string,
  child: typeof supplements | typeof questions,
  rows: Rows<Row>,
): Batch<Row> => ({
  name,
  rows,
  query: (select, keys) =>
    select
      .from(child)
      .where(and(anyOf(child.ticketRateId, keys), not(child.removed)))
      .orderBy(asc(child.position), asc(child.id)),
  key: rateIdOf,
})
export const rateSupplements = listedUnderRate(
  'supplements_by_ticket_rate_id',
  supplements,
  fewRowsOf(getTableColumns(supplements)),
)
export const rateQuestions = listedUnderRate(
  'questions_by_ticket_rate_id',
  questions,
  fewRowsOf(getTableColumns(questions)),
)

const rateByIdBatch = perMode(
  (mode): Batch<TicketRate> => ({
    name: nameIn(mode, 'ticket_rate_by_id'),
    rows: rowsOf(rateColumns),
    query: (select, keys) =>
      select
        .from(ticketRates)
        .innerJoin(stock, isStockOf(mode, ticketRates.id))
        .where(and(anyOf(ticketRates.id, keys), anyOf(ticketRates.organizationId, 'organizationIds'))),
    key: ({ id }) => id,
  }),
)
const priceByIdBatch = perMode(
  (mode): Batch<Price> => ({
    name: nameIn(mode, 'price_by_id'),
    rows: priceRows,
    query: (select, keys) =>
      select.from(prices).innerJoin(stock, isStockOf(mode, prices.id)).where(anyOf(prices.id, keys)),
    key: ({ id }) => id,
  }),
)

export const pricesByTicketRateId = ({ catalogue }: Readers) =>
  loadMany(catalogue, ratePrices[catalogue.scope.mode])
export const supplementsByTicketRateId = ({ catalogue }: Readers) => loadMany(catalogue, rateSupplements)
export const questionsByTicketRateId = ({ catalogue }: Readers) => loadMany(catalogue, rateQuestions)

// Stock is read for each request, even if the rest of the offer is cached.
export function ticketRatesByEventId({ catalogue }: Readers, loaders: Loaders): Loader<TicketRate[]> {
  const offerByEventId = loadOffers(catalogue)
  return new Loader(async (eventIds) => {
    const offers = await offerByEventId.loadAll(eventIds)
    const ids = offers.flatMap((offer) => offer?.stockIds ?? [])
    const stockOf = byCounted(await catalogue.find(stockById, stockIds(catalogue.scope.mode, ids)))
    return offers.map((offer) => {
      const rates: TicketRate[] = []
      for (const { rate, prices, supplements, questions } of offer?.rates ?? []) {
        const { id } = rate.row
        const rateStock = stockOf.get(id)
        if (!rateStock) continue
        rates.push(rate.with(rateStock))
        loaders.get(pricesByTicketRateId).prime(id, withStock(prices, stockOf))
        loaders.get(supplementsByTicketRateId).prime(id, supplements)
        loaders.get(questionsByTicketRateId).prime(id, questions)
      }
      return rates
    })
  })
}

// These find removed rows too, because sold tickets may refer to them.
export const ticketRateById = ({ catalogue }: Readers) =>
  loadOne(catalogue, rateByIdBatch[catalogue.scope.mode])
export const priceById = ({ catalogue }: Readers) => loadOne(catalogue, priceByIdBatch[catalogue.scope.mode])

// Rates whose organization a process remembers.
const maxRemembered = 20_000

const organizationsOf = perDatabase(() => new LRUCache<string, string>({ max: maxRemembered }))

/** Reads the organization of a rate. Null if there is no such rate. */
export async function readOrganizationOfRate(db: Database, id: string): Promise<string | null> {
  const [rate] = await db
    .select({ organizationId: ticketRates.organizationId })
    .from(ticketRates)
    .where(eq(ticketRates.id, id))
  return rate?.organizationId ?? null
}

/** Finds the organization of a rate, which never changes and is remembered. Null if there is no such rate. */
export async function organizationOfRate(db: Database, id: string): Promise<string | null> {
  const remembered = organizationsOf(db)
  const known = remembered.get(id)
  if (known !== undefined) return known
  const found = await readOrganizationOfRate(db, id)
  if (found !== null) remembered.set(id, found)
  return found
}
