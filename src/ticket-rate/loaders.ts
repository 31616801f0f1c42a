import { and, asc, eq, getTableColumns, not } from 'drizzle-orm'
import { anyOf, type Find, loadMany, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { rowsOf } from '../rows.ts'
import { loadSiblings } from '../siblings.ts'
import {
  type Price,
  prices,
  type Question,
  questions,
  type Supplement,
  stock,
  supplements,
  ticketRates,
} from './table.ts'

const { id: _, ...left } = getTableColumns(stock)
/** A rate, with what is left of it. */
export const rateColumns = { ...getTableColumns(ticketRates), ...left }
const rateRows = rowsOf(rateColumns)
const priceRows = rowsOf({ ...getTableColumns(prices), ...left })
const supplementRows = rowsOf(getTableColumns(supplements))
const questionRows = rowsOf(getTableColumns(questions))

/** What is listed of each of the rates `keys`, in order. Whoever sees a rate sees these. */
export const listedPrices: Find<Price> = {
  rows: priceRows,
  query: (select) =>
    select
      .from(prices)
      .innerJoin(stock, eq(stock.id, prices.id))
      .where(and(anyOf(prices.ticketRateId, 'keys'), not(prices.removed)))
      .orderBy(asc(prices.position), asc(prices.id)),
}
export const listedSupplements: Find<Supplement> = {
  rows: supplementRows,
  query: (select) =>
    select
      .from(supplements)
      .where(and(anyOf(supplements.ticketRateId, 'keys'), not(supplements.removed)))
      .orderBy(asc(supplements.position), asc(supplements.id)),
}
export const listedQuestions: Find<Question> = {
  rows: questionRows,
  query: (select) =>
    select
      .from(questions)
      .where(and(anyOf(questions.ticketRateId, 'keys'), not(questions.removed)))
      .orderBy(asc(questions.position), asc(questions.id)),
}

/** A rate is found by its own id even when it is no longer listed, because tickets of it may be out. */
export const ticketRateLoaders = (db: Database, scope: Scope) => ({
  ticketRateById: loadOne(db, scope, {
    name: 'ticket_rate_by_id',
    rows: rateRows,
    query: (select) =>
      select
        .from(ticketRates)
        .innerJoin(stock, eq(stock.id, ticketRates.id))
        .where(and(anyOf(ticketRates.id, 'keys'), anyOf(ticketRates.organizationId, 'organizationIds'))),
    key: (rate) => rate.id,
  }),
  ticketRatesByEventId: loadMany(db, scope, {
    name: 'ticket_rates_by_event_id',
    rows: rateRows,
    query: (select) =>
      select
        .from(ticketRates)
        .innerJoin(stock, eq(stock.id, ticketRates.id))
        .where(and(anyOf(ticketRates.eventId, 'keys'), not(ticketRates.removed)))
        .orderBy(asc(ticketRates.position), asc(ticketRates.id)),
    key: (rate) => rate.eventId,
  }),
  priceById: loadOne(db, scope, {
    name: 'price_by_id',
    rows: priceRows,
    query: (select) =>
      select.from(prices).innerJoin(stock, eq(stock.id, prices.id)).where(anyOf(prices.id, 'keys')),
    key: (price) => price.id,
  }),
  ...loadSiblings(db, 'ticket_rate_id', {
    pricesByTicketRateId: { ...listedPrices, key: (price) => price.ticketRateId },
    supplementsByTicketRateId: { ...listedSupplements, key: (supplement) => supplement.ticketRateId },
    questionsByTicketRateId: { ...listedQuestions, key: (question) => question.ticketRateId },
  }),
})
