import { and, eq, sql } from 'drizzle-orm'
import { boundedTransactions } from '../../../data/bulkhead.ts'
import type { Connection } from '../../../database/database.ts'
import { announceOnCommit } from '../../../database/transaction.ts'
import { issueInvoices } from '../../invoice/issue-invoice.ts'
import { paymentChange } from '../../payment/body.ts'
import { isOfPayments, isPayment, lockPayment } from '../../payment/lock-payment.ts'
import type { RefundOutcome } from '../../payment/provider.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { wherePaymentMayBecome } from '../../payment/transitions.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { isTicket } from '../../ticket/require-ticket.ts'
import { type Refund, tickets } from '../../ticket/table.ts'
import { recordChanges } from '../../webhook/record-changes.ts'

/** Runs transactions that write refunds, two at a time per process. Never call a provider inside of one. */
export const refundTransaction = boundedTransactions({ maxAtOnce: 2, maxWaiting: 500 })

/** Condition that matches a refund by its primary key. */
export const isRefund = ({ id, organizationId }: Pick<RefundAttempt, 'id' | 'organizationId'>) =>
  and(eq(refunds.organizationId, organizationId), eq(refunds.id, id))

function changeOf(outcome: RefundOutcome) {
  if (outcome.kind === 'failed') return { status: 'failed', lastError: outcome.code } as const
  const { reference } = outcome
  if (outcome.kind === 'pending') return { reference, lastError: null }
  return { status: 'succeeded', reference, lastError: null, succeededAt: sql`now()` } as const
}

// Returns false if the payment's status does not allow it.
async function updatePayment(
  tx: Connection,
  payment: Payment,
  to: { status: 'partially_refunded' | 'refunded'; refundedAmount: number },
): Promise<boolean> {
  const [refunded] = await tx
    .update(payments)
    .set(to)
    .where(and(isPayment(payment), wherePaymentMayBecome(to.status)))
    .returning()
  if (!refunded) return false
  const { id, organizationId } = payment
  announceOnCommit(tx, 'payments', [id])
  const sold = await tx
    .select({ ticketRateId: tickets.ticketRateId })
    .from(tickets)
    .where(isOfPayments(tickets, organizationId, [id]))
    .orderBy(tickets.position)
  await recordChanges(tx, [paymentChange('payment.refunded', refunded, sold)])
  return true
}

async function recordTicketRefund(
  tx: Connection,
  payment: Payment,
  { id, amount, currency, channelId }: RefundAttempt,
  ticketId: string,
  at: Date,
): Promise<void> {
  const entry: Refund = { channelId, amount, at: at.toISOString() }
  const isRefunded = isTicket({ id: ticketId, organizationId: payment.organizationId })
  await tx
    .update(tickets)
    .set({
      refundedAmount: sql`${tickets.refundedAmount} + ${amount}`,
      refundedAt: at,
      refunds: sql`${tickets.refunds} || ${JSON.stringify([entry])}::text::jsonb`,
    })
    .where(isRefunded)
  const refundedAmount = payment.refundedAmount + amount
  const status = refundedAmount === payment.totalAmount ? 'refunded' : 'partially_refunded'
  if (!(await updatePayment(tx, payment, { status, refundedAmount })))
    throw new Error(`payment ${payment.id} of a refunded ticket is not paid`)
  const invoiced = { paymentId: payment.id, refundId: id, amount, currency }
  const reference = (await issueInvoices(tx, payment, 'corrective', [invoiced])).get(payment.id)
  await tx
    .update(tickets)
    .set({
      correctiveInvoiceReferences: sql`array_append(${tickets.correctiveInvoiceReferences}, ${reference}::text)`,
    })
    .where(isRefunded)
}

// Records the consequences of a successful refund: the new state of the payment and the ticket, the
// corrective invoice and the change that clients receive. Requires this transaction to hold the payment's
// row lock.
async function recordRefunded(
  tx: Connection,
  payment: Payment,
  refund: RefundAttempt,
  at: Date,
): Promise<void> {
  if (refund.ticketId) return recordTicketRefund(tx, payment, refund, refund.ticketId, at)
  // A second or mismatching charge was never part of the amount paid, nor was a late one if another charge
  // has paid. A mismatching charge may even be in another currency.
  if (refund.reason === 'PAID_TWICE' || refund.reason === 'AMOUNT_MISMATCH' || payment.paidAt) return
  const refundedAmount = Math.min(payment.refundedAmount + refund.amount, payment.totalAmount)
  await updatePayment(tx, payment, { status: 'refunded', refundedAmount })
}

/** Applies a provider's outcome to a refund, with all its consequences, in the caller's transaction. A refund
 *  is decided once: repeated outcomes change nothing, and a failure after a success undoes nothing, but is
 *  kept in `lastError` for the operator. Returns the refund's current row. */
export async function settleRefund(
  tx: Connection,
  refund: RefundAttempt,
  outcome: RefundOutcome,
): Promise<RefundAttempt> {
  const isThis = isRefund(refund)
  const payment = await lockPayment(tx, { id: refund.paymentId, organizationId: refund.organizationId })
  const [settled] = await tx
    .update(refunds)
    .set(changeOf(outcome))
    .where(and(isThis, eq(refunds.status, 'pending')))
    .returning()
  if (settled) {
    if (settled.succeededAt) await recordRefunded(tx, payment, settled, settled.succeededAt)
    return settled
  }
  if (outcome.kind === 'failed') await tx.update(refunds).set({ lastError: outcome.code }).where(isThis)
  const [decided] = await tx.select().from(refunds).where(isThis)
  return decided ?? refund
}
