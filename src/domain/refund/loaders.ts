import { asc, getTableColumns } from 'drizzle-orm'
import { loadMany, loadOne, type Readers, soldBatch } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { type RefundAttempt, refunds } from './table.ts'

const rows = rowsOf(getTableColumns(refunds))

const byColumn = (name: string, column: 'id' | 'ticketId' | 'paymentId') =>
  soldBatch<RefundAttempt>({
    name,
    ...{ rows, table: refunds, column: refunds[column] },
    order: [asc(refunds.createdAt), asc(refunds.id)],
    key: (refund) => refund[column] ?? '',
  })
const byId = byColumn('refund_by_id', 'id')
const byTicketId = byColumn('refunds_by_ticket_id', 'ticketId')
const byPaymentId = byColumn('refunds_by_payment_id', 'paymentId')

export const refundById = ({ own }: Readers) => loadOne(own, byId)
export const refundsByTicketId = ({ own }: Readers) => loadMany(own, byTicketId)
export const refundsByPaymentId = ({ own }: Readers) => loadMany(own, byPaymentId)
