import { and, eq } from 'drizzle-orm'
import { touchCatalogue } from '../catalogue-version.ts'
import type { Connection, Database } from '../database.ts'
import { inSeconds } from '../due.ts'
import { lockPayment } from './lock-payment.ts'
import type { Outcome } from './provider.ts'
import { receiveMoney, type Settled } from './receive-money.ts'
import { releaseHolds } from './release-holds.ts'
import { type Payment, payments } from './table.ts'
import { canBecome, mayBecome } from './transitions.ts'

// A provider that has not decided by then never will: what comes later is late money.
const mostProcessingSeconds = 7 * 24 * 3600

/** Lets a payment become what its provider or its buyer says, in a transaction of the caller's. What it may not become
 *  it doesn't: one that is over stays as it is, but for money, which is never lost: see receiveMoney. A pending one
 *  whose time is over by the database's clock expires, unless money came or is coming (DECISIONS 5). */
export async function settle(tx: Connection, paymentId: string, outcome: Outcome): Promise<Settled> {
  if (outcome.kind === 'paid') return receiveMoney(tx, paymentId, outcome.money)
  const { status, isOverdue } = await lockPayment(tx, paymentId)
  if (outcome.kind === 'processing') {
    const processing = await tx
      .update(payments)
      .set({ status: 'processing', expiresAt: inSeconds(mostProcessingSeconds) })
      .where(and(eq(payments.id, paymentId), canBecome('processing')))
      .returning({ id: payments.id })
    return { status: processing.length > 0 ? 'processing' : status, touched: false }
  }
  const to = status === 'pending' && isOverdue ? 'expired' : outcome.status
  if (!mayBecome(status, to)) return { status, touched: false }
  return { status: to, touched: await releaseHolds(tx, [paymentId], to) }
}

/** The same in a transaction of its own. Returns the status that the payment has now. */
export async function settlePayment(
  db: Database,
  paymentId: string,
  outcome: Outcome,
): Promise<Payment['status']> {
  const { status, touched } = await db.transaction((tx) => settle(tx, paymentId, outcome))
  if (touched) touchCatalogue(db)
  return status
}
