import { and, asc, getTableColumns, not, type SQL, sql } from 'drizzle-orm'
import { groupBy } from '../../engine/base/group-by.ts'
import { type Batch, loadById, loadMany, loadRow } from '../../engine/data/batch-loader.ts'
import { organizationsBy } from '../../engine/data/by-organization.ts'
import { fewRowsOf, type Rows, rowsOf } from '../../engine/data/json-rows.ts'
import { anyOf, type Find, inOrganizationIfNamed, type Select } from '../../engine/data/query.ts'
import { counterColumns, isStockOf, stock } from '../stock/table.ts'
import { type Price, prices, questions, supplements, type TicketRate, ticketRates } from './table.ts'

/** Columns of a rate with its stock counters. */
export const rateColumns = { ...getTableColumns(ticketRates), ...counterColumns }
const priceRows = fewRowsOf({ ...getTableColumns(prices), ...counterColumns })
const rateIdOf = ({ ticketRateId }: { ticketRateId: string }) => ticketRateId

/** Groups rows by the rate that they are listed under. */
export const byRate = <Row extends { ticketRateId: string }>(rows: Row[]) => groupBy(rows, rateIdOf)

/** Selects from rates or prices with their counters. */
export const countedRates = (select: Select) =>
  select.from(ticketRates).innerJoin(stock, isStockOf('rate', ticketRates.id))
const countedPrices = (select: Select) => select.from(prices).innerJoin(stock, isStockOf('price', prices.id))

const isOfNamed = inOrganizationIfNamed(stock.organizationId)

/** Query for prices of the rates `keys`, in order, with their counters. Visible to anybody who may see the rate. */
export const ratePrices: Batch<Price> = {
  name: 'prices_by_ticket_rate_id',
  rows: priceRows,
  query: (select, keys) =>
    countedPrices(select)
      .where(and(isOfNamed, anyOf(prices.ticketRateId, keys), not(prices.removed)))
      .orderBy(asc(prices.position), asc(prices.id)),
  key: rateIdOf,
}

/** Table of what is listed under rates. */
export type Part = typeof prices | typeof supplements | typeof questions

/** Query for rows of a table that were not removed and match a condition on the keys, in order. */
export const listed =
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

export const pricesByTicketRateId = loadMany('shared', ratePrices)
export const supplementsByTicketRateId = loadMany('shared', rateSupplements)
export const questionsByTicketRateId = loadMany('shared', rateQuestions)

// These find removed rows too, because sold tickets may refer to them, and those of any organization: what a caller
// names goes through `loadNamed`.
export const ticketRateById = loadById<TicketRate>('shared', {
  name: 'ticket_rate_by_id',
  rows: rowsOf(rateColumns),
  query: (select, keys) => countedRates(select).where(and(isOfNamed, anyOf(ticketRates.id, keys))),
  organizationOf: (db, id) => organizationOfRate(db, id),
})

export const priceById = loadById<Price>('shared', {
  name: 'price_by_id',
  rows: priceRows,
  query: (select, keys) => countedPrices(select).where(and(isOfNamed, anyOf(prices.id, keys))),
  organizationOf: organizationsBy(
    'organization_of_price',
    () => sql`select ${prices.id} as key, ${ticketRates.organizationId} as id from ${prices}
      join ${ticketRates} on ${ticketRates.id} = ${prices.ticketRateId} where ${anyOf(prices.id, 'keys')}`,
  ),
})

export const supplementById = loadRow('supplement_by_id', supplements)
export const questionById = loadRow('question_by_id', questions)

/** Finds the organization of a rate. Null if there is no such rate. */
export const organizationOfRate = organizationsBy(
  'organization_of_ticket_rate',
  () => sql`select ${ticketRates.id} as key, ${ticketRates.organizationId} as id from ${ticketRates}
    where ${anyOf(ticketRates.id, 'keys')}`,
)
