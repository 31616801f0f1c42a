import { and, eq, sql } from 'drizzle-orm'
import type { Connection } from '../../../database/database.ts'
import { issueInvoices } from '../../invoice/issue-invoice.ts'
import { paymentChange } from '../../payment/payment-change.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import type { RefundAttempt } from '../../refund/table.ts'
import { type Refund, tickets } from '../../ticket/table.ts'
import { recordChanges } from '../record-changes.ts'

/** Refund that has succeeded, and when. */
type SucceededRefund = RefundAttempt & { at: Date }

/** Records the consequences of a successful refund: the new state of the payment and the ticket, the
 *  corrective invoice and the change that clients receive. Requires this transaction to hold the payment's
 *  row lock. */
export async function recordRefunded(
  tx: Connection,
  payment: Payment,
  refund: SucceededRefund,
): Promise<void> {
  if (refund.ticketId) return recordTicketRefund(tx, payment, refund, refund.ticketId)
  // A second or mismatching charge was never part of the amount paid, nor was a late one if another charge
  // has paid. A mismatching charge may even be in another currency.
  if (refund.reason === 'PAID_TWICE' || refund.reason === 'AMOUNT_MISMATCH' || payment.paidAt) return
  const refundedAmount = Math.min(payment.refundedAmount + refund.amount, payment.totalAmount)
  await updatePayment(tx, payment, { status: 'refunded', refundedAmount })
}

// Returns false if the payment's status does not allow it.
async function updatePayment(
  tx: Connection,
  { id }: Payment,
  to: { status: 'partially_refunded' | 'refunded'; refundedAmount: number },
): Promise<boolean> {
  const [refunded] = await tx
    .update(payments)
    .set(to)
    .where(and(eq(payments.id, id), canBecome(to.status)))
    .returning()
  if (refunded) await recordChanges(tx, [paymentChange('payment.refunded', refunded)])
  return refunded !== undefined
}

async function recordTicketRefund(
  tx: Connection,
  payment: Payment,
  { id, amount, currency, at, channelId }: SucceededRefund,
  ticketId: string,
): Promise<void> {
  const entry: Refund = { channelId, amount, at: at.toISOString() }
  await tx
    .update(tickets)
    .set({
      refundedAmount: sql`${tickets.refundedAmount} + ${amount}`,
      refundedAt: at,
      refunds: sql`${tickets.refunds} || ${JSON.stringify([entry])}::text::jsonb`,
    })
    .where(eq(tickets.id, ticketId))
  const refundedAmount = payment.refundedAmount + amount
  const status = refundedAmount === payment.totalAmount ? 'refunded' : 'partially_refunded'
  if (!(await updatePayment(tx, payment, { status, refundedAmount })))
    throw new Error(`payment ${payment.id} of a refunded ticket is not paid`)
  const series = { organizationId: payment.organizationId, kind: 'corrective' } as const
  const [reference] = await issueInvoices(tx, series, [
    { paymentId: payment.id, refundId: id, amount, currency },
  ])
  await tx
    .update(tickets)
    .set({
      correctiveInvoiceReferences: sql`array_append(${tickets.correctiveInvoiceReferences}, ${reference}::text)`,
    })
    .where(eq(tickets.id, ticketId))
}
