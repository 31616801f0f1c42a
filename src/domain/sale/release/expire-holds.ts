import { and, asc, eq, inArray } from 'drizzle-orm'
import { invalidateCatalogue } from '../../../database/catalogue-version.ts'
import type { Database } from '../../../database/database.ts'
import { isOverdue, payments } from '../../payment/table.ts'
import { type Ending, releaseHolds } from './release-holds.ts'

const asExpired = ({ id }: { id: string }): Ending => ({ id, status: 'expired' })

/** Expires up to `limit` unpaid payments whose time is over, and returns how many there were. Many processes can do so
 *  at once: each takes rows that no other has (DECISIONS 5). */
export async function expireHolds(db: Database, limit: number): Promise<number> {
  const { expired, freed } = await db.transaction(async (tx) => {
    const found = await tx
      .select({ id: payments.id })
      .from(payments)
      .where(isOverdue)
      .orderBy(asc(payments.expiresAt), asc(payments.id))
      .limit(limit)
      .for('update', { skipLocked: true })
    return { expired: found.length, freed: await releaseHolds(tx, found.map(asExpired)) }
  })
  if (freed) invalidateCatalogue(db)
  return expired
}

/** Expires the overdue holds of one rate, for a checkout that finds it full. Where another process is at it already,
 *  waits until that is done. */
export async function expireHoldsOf(db: Database, ticketRateId: string): Promise<void> {
  const seen = await db
    .select({ id: payments.id })
    .from(payments)
    .where(and(isOverdue, eq(payments.ticketRateId, ticketRateId)))
  if (seen.length === 0) return
  const freed = await db.transaction(async (tx) => {
    const still = await tx
      .select({ id: payments.id })
      .from(payments)
      .where(
        and(
          inArray(
            payments.id,
            seen.map(({ id }) => id),
          ),
          isOverdue,
        ),
      )
      .orderBy(asc(payments.id))
      .for('update')
    return releaseHolds(tx, still.map(asExpired))
  })
  if (freed) invalidateCatalogue(db)
}
