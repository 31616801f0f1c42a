import { asc, getTableColumns } from 'drizzle-orm'
import { loadMany, loadOne } from '../../engine/data/batch-loader.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { saleRows } from '../caller/sale-rows.ts'
import { type RefundAttempt, refunds } from './table.ts'

const rows = rowsOf(getTableColumns(refunds))

const byColumn = (name: string, column: 'id' | 'ticketId' | 'paymentId') =>
  saleRows<RefundAttempt>({
    name,
    rows,
    table: refunds,
    column: refunds[column],
    order: [asc(refunds.createdAt), asc(refunds.id)],
    key: (refund) => refund[column] ?? '',
  })

export const refundById = loadOne('own', byColumn('refund_by_id', 'id'))
export const refundsByTicketId = loadMany('own', byColumn('refunds_by_ticket_id', 'ticketId'))
export const refundsByPaymentId = loadMany('own', byColumn('refunds_by_payment_id', 'paymentId'))
