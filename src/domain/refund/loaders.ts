import { and, asc, getTableColumns } from 'drizzle-orm'
import { type Batch, loadMany, type Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, isOwn } from '../../data/prepared.ts'
import { type RefundAttempt, refunds } from './table.ts'

const refundRows = rowsOf(getTableColumns(refunds))

const byTicketId: Batch<RefundAttempt> = {
  name: 'refunds_by_ticket_id',
  rows: refundRows,
  query: (select, keys) =>
    select
      .from(refunds)
      .where(and(anyOf(refunds.ticketId, keys), isOwn(refunds)))
      .orderBy(asc(refunds.createdAt), asc(refunds.id)),
  key: ({ ticketId }) => ticketId ?? '',
}
const byPaymentId: Batch<RefundAttempt> = {
  name: 'refunds_by_payment_id',
  rows: refundRows,
  query: (select, keys) =>
    select
      .from(refunds)
      .where(and(anyOf(refunds.paymentId, keys), isOwn(refunds)))
      .orderBy(asc(refunds.createdAt), asc(refunds.id)),
  key: ({ paymentId }) => paymentId,
}

export const refundsByTicketId = ({ own }: Readers) => loadMany(own, byTicketId)
export const refundsByPaymentId = ({ own }: Readers) => loadMany(own, byPaymentId)
