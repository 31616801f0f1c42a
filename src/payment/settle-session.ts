import { eq, sql } from 'drizzle-orm'
import { touchCatalogue } from '../catalogue-version.ts'
import type { Connection, Database } from '../database.ts'
import { lockPayment } from './lock-payment.ts'
import type { Outcome } from './provider.ts'
import type { Settled } from './receive-money.ts'
import { settle } from './settle-payment.ts'
import { type Payment, payments } from './table.ts'

/** Lets a payment become what one of its sessions came to, in a transaction of the caller's. Of a session that is not
 *  the one its buyer was sent to, nothing counts but the money. */
export async function settleSession(
  tx: Connection,
  paymentId: string,
  sessionId: string,
  outcome: Outcome,
): Promise<Settled> {
  const { status, sessionId: own } = await lockPayment(tx, paymentId)
  const isOwn = sessionId === own
  if (!isOwn && outcome.kind !== 'paid') return { status, touched: false }
  const settled = await settle(tx, paymentId, outcome)
  if (outcome.kind !== 'processing')
    await tx
      .update(payments)
      .set(isOwn ? { sessionOpen: false } : { sessionDueAt: sql`now()` })
      .where(eq(payments.id, paymentId))
  return settled
}

/** The same in a transaction of its own. Returns the status that the payment has now. */
export async function settlePaymentSession(
  db: Database,
  paymentId: string,
  sessionId: string,
  outcome: Outcome,
): Promise<Payment['status']> {
  const { status, touched } = await db.transaction((tx) => settleSession(tx, paymentId, sessionId, outcome))
  if (touched) touchCatalogue(db)
  return status
}
