import { and, asc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { anyOf, loadMany, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { events } from '../event/table.ts'
import { type Rows, rowsOf } from '../rows.ts'
import { prices, ticketRates } from '../ticket-rate/table.ts'
import { type LookupTicket, tickets } from './table.ts'

const ticketRows = rowsOf(getTableColumns(tickets))
const lookupRows: Rows<LookupTicket> = rowsOf({
  ...getTableColumns(tickets),
  rateName: ticketRates.name,
  rateSlug: ticketRates.slug,
  eventAge: events.age,
  priceIncludes: prices.includes,
  priceAdditionalInfo: prices.additionalInfo,
})

// A channel reads the tickets that it created, whatever became of its grant; an integration its organization's.
const own = or(
  eq(tickets.channelId, sql.placeholder('channelId')),
  anyOf(tickets.organizationId, 'ownOrganizationIds'),
)

const seen = (column: PgColumn) => anyOf(column, 'organizationIds')

export const ticketLoaders = (db: Database, scope: Scope) => ({
  // With all that a lookup shows, because a second statement would cost what the first does.
  ticketById: loadOne(db, scope, {
    name: 'ticket_by_id',
    rows: lookupRows,
    query: (select) =>
      select
        .from(tickets)
        .innerJoin(prices, eq(prices.id, tickets.priceId))
        .leftJoin(
          ticketRates,
          and(eq(ticketRates.id, tickets.ticketRateId), seen(ticketRates.organizationId)),
        )
        .leftJoin(events, and(eq(events.id, tickets.eventId), seen(events.organizationId)))
        .where(and(anyOf(tickets.id, 'keys'), own)),
    key: (ticket) => ticket.id,
  }),
  ticketsByPaymentId: loadMany(db, scope, {
    name: 'tickets_by_payment_id',
    rows: ticketRows,
    query: (select) =>
      select
        .from(tickets)
        .where(and(anyOf(tickets.paymentId, 'keys'), own))
        .orderBy(asc(tickets.position), asc(tickets.id)),
    key: (ticket) => ticket.paymentId,
  }),
})
