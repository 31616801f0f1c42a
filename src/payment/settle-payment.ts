import { and, eq, sql } from 'drizzle-orm'
import { touchCatalogue } from '../catalogue-version.ts'
import type { Connection, Database } from '../database.ts'
import { tickets } from '../ticket/table.ts'
import { moveStock, stockMoves } from '../ticket-rate/move-stock.ts'
import { releaseHolds } from './release-holds.ts'
import { type Payment, payments } from './table.ts'

async function activate(tx: Connection, paymentId: string): Promise<void> {
  await tx.update(payments).set({ status: 'paid', paidAt: sql`now()` }).where(eq(payments.id, paymentId))
  const activated = await tx
    .update(tickets)
    .set({ status: 'active', activatedAt: sql`now()` })
    .where(and(eq(tickets.paymentId, paymentId), eq(tickets.status, 'held')))
    .returning({ ticketRateId: tickets.ticketRateId, priceId: tickets.priceId })
  await moveStock(tx, stockMoves(activated, { held: -1, sold: 1 }))
}

/** Ends a pending payment as its provider or its buyer says, in one transaction: paid activates its tickets, failed and
 *  cancelled give its stock back. One that is over already stays as it is, and one whose time is over by the
 *  database's clock expires instead. Returns the status that it has now (DECISIONS 5). */
export async function settlePayment(
  db: Database,
  paymentId: string,
  outcome: 'paid' | 'failed' | 'cancelled',
): Promise<Payment['status']> {
  let freed = false
  const settled = await db.transaction(async (tx) => {
    const [payment] = await tx
      .select({ status: payments.status, isOverdue: sql<boolean>`${payments.expiresAt} <= now()` })
      .from(payments)
      .where(eq(payments.id, paymentId))
      .for('update')
    if (!payment) throw new Error('a payment that is settled exists')
    if (payment.status !== 'pending') return payment.status
    const status = payment.isOverdue ? 'expired' : outcome
    if (status === 'paid') await activate(tx, paymentId)
    else freed = await releaseHolds(tx, [paymentId], status)
    return status
  })
  if (freed) touchCatalogue(db)
  return settled
}
