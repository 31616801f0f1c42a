import { and, asc, eq, exists, inArray, not, type SQL, sql } from 'drizzle-orm'
import { coalesceReads } from '../../../data/coalesce.ts'
import { anyOf, statement } from '../../../data/prepared.ts'
import type { Connection, Database } from '../../../database/database.ts'
import { transaction } from '../../../database/transaction.ts'
import { paymentChange } from '../../payment/payment-change.ts'
import { idempotencyKeys, isFresh, isOverdue, type Payment, payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import { tickets } from '../../ticket/table.ts'
import { moveStock, stockMoves } from '../../ticket-rate/move-stock.ts'
import { recordAvailability, recordChanges } from '../record-changes.ts'

/** Unpaid payment, and the status it ends with. */
export type Ending = { id: string; status: 'failed' | 'expired' | 'cancelled' }

async function endAs(tx: Connection, status: Ending['status'], endings: Ending[]): Promise<Payment[]> {
  const ids = endings.filter((ending) => ending.status === status).map(({ id }) => id)
  if (ids.length === 0) return []
  return (
    tx
      .update(payments)
      // Makes the provider session due to be closed, so that nobody can pay there any more.
      .set({ status, sessionDueAt: sql`now()` })
      .where(and(inArray(payments.id, ids), canBecome(status)))
      .returning()
  )
}

/** Ends unpaid payments and releases the stock that they hold. Requires this transaction to hold their row
 *  locks. */
export async function releaseHolds(tx: Connection, endings: Ending[]): Promise<void> {
  if (endings.length === 0) return
  const failed = await endAs(tx, 'failed', endings)
  const expired = await endAs(tx, 'expired', endings)
  await endAs(tx, 'cancelled', endings)
  // No change for cancelled payments: the client that cancels knows.
  await recordChanges(tx, [
    ...failed.map((payment) => paymentChange('payment.failed', payment)),
    ...expired.map((payment) => paymentChange('payment.expired', payment)),
  ])
  const ids = endings.map(({ id }) => id)
  const released = await tx
    .update(tickets)
    .set({ status: 'expired' })
    .where(and(inArray(tickets.paymentId, ids), eq(tickets.status, 'held')))
    .returning({
      ticketRateId: tickets.ticketRateId,
      priceId: tickets.priceId,
      discountId: tickets.discountId,
      mode: tickets.mode,
    })
  const flipped = await moveStock(tx, stockMoves(released, { held: -1 }))
  if (!flipped) throw new Error('stock of held tickets could not be released')
  await recordAvailability(tx, flipped)
}

const toExpired = ({ id }: { id: string }): Ending => ({ id, status: 'expired' })

/** Expires up to `limit` overdue payments and returns their number. Safe to run in many processes: each skips
 *  rows that another has locked (DECISIONS 5). */
export const expireHolds = (db: Database, limit: number): Promise<number> =>
  transaction(db, async (tx) => {
    const found = await tx
      .select({ id: payments.id })
      .from(payments)
      .where(isOverdue)
      .orderBy(asc(payments.expiresAt), asc(payments.id))
      .limit(limit)
      .for('update', { skipLocked: true })
    await releaseHolds(tx, found.map(toExpired))
    return found.length
  })

// Waits for other processes that are expiring them already.
async function expireHoldsWhere(db: Database, condition: SQL): Promise<void> {
  const overdue = await db.select({ id: payments.id }).from(payments).where(and(isOverdue, condition))
  if (overdue.length === 0) return
  const ids = overdue.map(({ id }) => id)
  await transaction(db, async (tx) => {
    const locked = await tx
      .select({ id: payments.id })
      .from(payments)
      .where(and(inArray(payments.id, ids), isOverdue))
      .orderBy(asc(payments.id))
      .for('update')
    await releaseHolds(tx, locked.map(toExpired))
  })
}

/** Expires the overdue holds of one rate, for a checkout that finds it full. Waits for other processes that
 *  are expiring them already. */
export const expireHoldsOf = (db: Database, ticketRateId: string): Promise<void> =>
  expireHoldsWhere(db, eq(payments.ticketRateId, ticketRateId))

// Checkouts of one turn of the event loop that find discounts used up share one statement.
const findOverdueUses = coalesceReads<boolean>(async (db, discountIds) => {
  const found = await statement(db, 'discounts_of_overdue_holds', (db) =>
    db
      .selectDistinct({ id: sql<string>`${tickets.discountId}` })
      .from(payments)
      .innerJoin(tickets, eq(tickets.paymentId, payments.id))
      .where(and(isOverdue, anyOf(tickets.discountId, 'discountIds'))),
  ).execute({ discountIds })
  return new Map(found.map(({ id }) => [id, true]))
})

/** Expires the overdue holds of any rate that take up uses of a discount, for a checkout that finds it used
 *  up. Waits for other processes that are expiring them already. Returns false if there were none. */
export async function expireHoldsWith(db: Database, discountId: string): Promise<boolean> {
  if (!(await findOverdueUses(db, discountId))) return false
  const ofDiscount = db
    .select({ one: sql`1` })
    .from(tickets)
    .where(and(eq(tickets.paymentId, payments.id), eq(tickets.discountId, discountId)))
  await expireHoldsWhere(db, exists(ofDiscount))
  return true
}

const batchSize = 100

/** Expires all overdue holds, and deletes idempotency keys older than 24 hours. Safe to run in many
 *  processes. */
export async function sweepHolds(db: Database): Promise<void> {
  while ((await expireHolds(db, batchSize)) === batchSize);
  await db.delete(idempotencyKeys).where(not(isFresh))
}
