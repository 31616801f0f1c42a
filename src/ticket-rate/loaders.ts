import { and, asc, eq, getTableColumns, not } from 'drizzle-orm'
import { anyOf, loadMany, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { rowsOf } from '../rows.ts'
import { prices, questions, stock, supplements, ticketRates } from './table.ts'

const { id: _, ...left } = getTableColumns(stock)
const rateRows = rowsOf({ ...getTableColumns(ticketRates), ...left })
const priceRows = rowsOf({ ...getTableColumns(prices), ...left })
const supplementRows = rowsOf(getTableColumns(supplements))
const questionRows = rowsOf(getTableColumns(questions))

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
  pricesByTicketRateId: loadMany(db, scope, {
    name: 'prices_by_ticket_rate_id',
    rows: priceRows,
    query: (select) =>
      select
        .from(prices)
        .innerJoin(stock, eq(stock.id, prices.id))
        .where(and(anyOf(prices.ticketRateId, 'keys'), not(prices.removed)))
        .orderBy(asc(prices.position), asc(prices.id)),
    key: (price) => price.ticketRateId,
  }),
  supplementsByTicketRateId: loadMany(db, scope, {
    name: 'supplements_by_ticket_rate_id',
    rows: supplementRows,
    query: (select) =>
      select
        .from(supplements)
        .where(and(anyOf(supplements.ticketRateId, 'keys'), not(supplements.removed)))
        .orderBy(asc(supplements.position), asc(supplements.id)),
    key: (supplement) => supplement.ticketRateId,
  }),
  questionsByTicketRateId: loadMany(db, scope, {
    name: 'questions_by_ticket_rate_id',
    rows: questionRows,
    query: (select) =>
      select
        .from(questions)
        .where(and(anyOf(questions.ticketRateId, 'keys'), not(questions.removed)))
        .orderBy(asc(questions.position), asc(questions.id)),
    key: (question) => question.ticketRateId,
  }),
})
