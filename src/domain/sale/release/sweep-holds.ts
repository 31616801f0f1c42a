import { not } from 'drizzle-orm'
import type { Database } from '../../../database/database.ts'
import { idempotencyKeys, isFresh } from '../../payment/table.ts'
import { expireHolds } from './expire-holds.ts'

const batch = 100

/** Expires all overdue holds, and forgets idempotency keys of more than 24 hours. Any number of processes may sweep the
 *  same database. */
export async function sweepHolds(db: Database): Promise<void> {
  while ((await expireHolds(db, batch)) === batch);
  await db.delete(idempotencyKeys).where(not(isFresh))
}
