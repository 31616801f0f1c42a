import { and, asc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { anyOf, loadMany, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { rowsOf } from '../rows.ts'
import { refunds } from './table.ts'

const refundRows = rowsOf(getTableColumns(refunds))

// Whoever reads a payment reads its refunds.
const own = or(
  eq(refunds.channelId, sql.placeholder('channelId')),
  anyOf(refunds.organizationId, 'ownOrganizationIds'),
)

export const refundLoaders = (db: Database, scope: Scope) => ({
  refundsByTicketId: loadMany(db, scope, {
    name: 'refunds_by_ticket_id',
    rows: refundRows,
    query: (select) =>
      select
        .from(refunds)
        .where(and(anyOf(refunds.ticketId, 'keys'), own))
        .orderBy(asc(refunds.createdAt), asc(refunds.id)),
    key: (refund) => refund.ticketId ?? '',
  }),
  refundsByPaymentId: loadMany(db, scope, {
    name: 'refunds_by_payment_id',
    rows: refundRows,
    query: (select) =>
      select
        .from(refunds)
        .where(and(anyOf(refunds.paymentId, 'keys'), own))
        .orderBy(asc(refunds.createdAt), asc(refunds.id)),
    key: (refund) => refund.paymentId,
  }),
})
