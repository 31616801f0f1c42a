import { and, asc, eq, getTableColumns, or, sql } from 'drizzle-orm'
import { anyOf } from '../batch.ts'
import { loadMany, type Reader } from '../reader.ts'
import { rowsOf } from '../rows.ts'
import { refunds } from './table.ts'

const refundRows = rowsOf(getTableColumns(refunds))

// Whoever reads a payment reads its refunds.
const own = or(
  eq(refunds.channelId, sql.placeholder('channelId')),
  anyOf(refunds.organizationId, 'ownOrganizationIds'),
)

export const refundLoaders = (reader: Reader) => ({
  refundsByTicketId: loadMany(reader, {
    name: 'refunds_by_ticket_id',
    rows: refundRows,
    query: (select) =>
      select
        .from(refunds)
        .where(and(anyOf(refunds.ticketId, 'keys'), own))
        .orderBy(asc(refunds.createdAt), asc(refunds.id)),
    key: (refund) => refund.ticketId ?? '',
  }),
  refundsByPaymentId: loadMany(reader, {
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
