import { and, asc, eq, inArray } from 'drizzle-orm'
import type { Database } from '../../../database/database.ts'
import { transaction } from '../../../database/transaction.ts'
import { isOverdue, payments } from '../../payment/table.ts'
import { type Ending, releaseHolds } from './release-holds.ts'

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

/** Expires the overdue holds of one rate, for a checkout that finds it full. Waits for other processes that
 *  are expiring them already. */
export async function expireHoldsOf(db: Database, ticketRateId: string): Promise<void> {
  const overdue = await db
    .select({ id: payments.id })
    .from(payments)
    .where(and(isOverdue, eq(payments.ticketRateId, ticketRateId)))
  if (overdue.length === 0) return
  await transaction(db, async (tx) => {
    const locked = await tx
      .select({ id: payments.id })
      .from(payments)
      .where(
        and(
          inArray(
            payments.id,
            overdue.map(({ id }) => id),
          ),
          isOverdue,
        ),
      )
      .orderBy(asc(payments.id))
      .for('update')
    await releaseHolds(tx, locked.map(toExpired))
  })
}
