import { and, eq, sql } from 'drizzle-orm'
import type { Connection } from '../../../database/database.ts'
import { issueInvoices } from '../../invoice/issue-invoice.ts'
import { paymentChange } from '../../payment/payment-change.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import type { Refund } from '../../refund/table.ts'
import { type RefundMade, tickets } from '../../ticket/table.ts'
import { recordChanges } from '../record-changes.ts'

/** A refund that has succeeded, and when. */
type Made = Refund & { at: Date }

/** Writes down all that follows from money that went back, for a payment whose row this transaction has locked: how the
 *  payment and the ticket stand, the corrective invoice, and that clients are told. */
export async function recordRefunded(tx: Connection, payment: Payment, refund: Made): Promise<void> {
  if (refund.ticketId) return recordOfTicket(tx, payment, refund, refund.ticketId)
  // What came a second time, or does not match, is no part of what was paid; nor is what came too late, once other money
  // has paid. What does not match may also be of another currency than the payment's sums.
  if (refund.reason === 'PAID_TWICE' || refund.reason === 'AMOUNT_MISMATCH' || payment.paidAt) return
  const refundedAmount = Math.min(payment.refundedAmount + refund.amount, payment.totalAmount)
  await recordOnPayment(tx, payment, { status: 'refunded', refundedAmount })
}

// Gives whether the payment could become that.
async function recordOnPayment(
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

async function recordOfTicket(
  tx: Connection,
  payment: Payment,
  { id, amount, currency, at, channelId }: Made,
  ticketId: string,
): Promise<void> {
  const made: RefundMade = { channelId, amount, at: at.toISOString() }
  await tx
    .update(tickets)
    .set({
      refundedAmount: sql`${tickets.refundedAmount} + ${amount}`,
      refundedAt: at,
      refunds: sql`${tickets.refunds} || ${JSON.stringify([made])}::text::jsonb`,
    })
    .where(eq(tickets.id, ticketId))
  const refundedAmount = payment.refundedAmount + amount
  const status = refundedAmount === payment.totalAmount ? 'refunded' : 'partially_refunded'
  if (!(await recordOnPayment(tx, payment, { status, refundedAmount })))
    throw new Error('a payment is refunded that was paid')
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
