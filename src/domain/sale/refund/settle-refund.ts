import { and, eq, sql } from 'drizzle-orm'
import type { Connection } from '../../../database/database.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import type { RefundOutcome } from '../../payment/provider.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { recordRefunded } from './record-refunded.ts'

/** Identifies a refund by its id, or by its provider's reference. */
export type RefundName = { id: string } | { reference: string }

const findRefund = async (tx: Connection, name: RefundName): Promise<RefundAttempt | undefined> => {
  const isNamed = 'id' in name ? eq(refunds.id, name.id) : eq(refunds.reference, name.reference)
  const [found] = await tx.select().from(refunds).where(isNamed)
  return found
}

function changeOf(outcome: RefundOutcome) {
  if (outcome.kind === 'failed') return { status: 'failed', lastError: outcome.code } as const
  const { reference } = outcome
  if (outcome.kind === 'pending') return { reference, lastError: null }
  return { status: 'succeeded', reference, lastError: null, succeededAt: sql`now()` } as const
}

/** Applies a provider's outcome to a refund, with all its consequences, in the caller's transaction. A refund
 *  is decided once: repeated outcomes change nothing, and a failure after a success undoes nothing, but is
 *  kept in `lastError` for the operator. Returns the refund's current row, or null if there is none. */
export async function settleRefund(
  tx: Connection,
  name: RefundName,
  outcome: RefundOutcome,
): Promise<RefundAttempt | null> {
  const found = await findRefund(tx, name)
  if (!found) return null
  const payment = await lockPayment(tx, found.paymentId)
  const [settled] = await tx
    .update(refunds)
    .set(changeOf(outcome))
    .where(and(eq(refunds.id, found.id), eq(refunds.status, 'pending')))
    .returning()
  if (!settled) {
    if (outcome.kind === 'failed')
      await tx.update(refunds).set({ lastError: outcome.code }).where(eq(refunds.id, found.id))
    return (await findRefund(tx, found)) ?? null
  }
  if (settled.succeededAt) await recordRefunded(tx, payment, { ...settled, at: settled.succeededAt })
  return settled
}
