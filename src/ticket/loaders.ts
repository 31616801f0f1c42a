import { and, asc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { anyOf, loadMany, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { rowsOf } from '../rows.ts'
import { tickets } from './table.ts'

const ticketRows = rowsOf(getTableColumns(tickets))

// A channel reads the tickets that it created, whatever became of its grant; an integration its organization's.
const own = or(
  eq(tickets.channelId, sql.placeholder('channelId')),
  anyOf(tickets.organizationId, 'ownOrganizationIds'),
)

export const ticketLoaders = (db: Database, scope: Scope) => ({
  ticketById: loadOne(db, scope, {
    name: 'ticket_by_id',
    rows: ticketRows,
    query: (select) => select.from(tickets).where(and(anyOf(tickets.id, 'keys'), own)),
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
