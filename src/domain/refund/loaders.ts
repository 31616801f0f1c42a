import { and, asc, getTableColumns } from 'drizzle-orm'
import { type Batch, loadMany, loadOne, type Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, isOwn } from '../../data/prepared.ts'
import { type RefundAttempt, refunds } from './table.ts'

const rows = rowsOf(getTableColumns(refunds))

const byColumn = (name: string, column: 'ticketId' | 'paymentId'): Batch<RefundAttempt> => ({
  name,
  rows,
  query: (select, keys) =>
    select
      .from(refunds)
      .where(and(anyOf(refunds[column], keys), isOwn(refunds)))
      .orderBy(asc(refunds.createdAt), asc(refunds.id)),
  key: (refund) => refund[column] ?? '',
})
const byTicketId = byColumn('refunds_by_ticket_id', 'ticketId')
const byPaymentId = byColumn('refunds_by_payment_id', 'paymentId')

const byId: Batch<RefundAttempt> = {
  name: 'refund_by_id',
  rows,
  query: (select, keys) => select.from(refunds).where(and(anyOf(refunds.id, keys), isOwn(refunds))),
  key: ({ id }) => id,
}

export const refundById = ({ own }: Readers) => loadOne(own, byId)
export const refundsByTicketId = ({ own }: Readers) => loadMany(own, byTicketId)
export const refundsByPaymentId = ({ own }: Readers) => loadMany(own, byPaymentId)
