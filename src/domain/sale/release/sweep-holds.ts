import { not } from 'drizzle-orm'
import type { Database } from '../../../database/database.ts'
import { idempotencyKeys, isFresh } from '../../payment/table.ts'
import { expireHolds } from './expire-holds.ts'

const batchSize = 100

/** Expires all overdue holds, and deletes idempotency keys older than 24 hours. Safe to run in many
 *  processes. */
export async function sweepHolds(db: Database): Promise<void> {
  while ((await expireHolds(db, batchSize)) === batchSize);
  await db.delete(idempotencyKeys).where(not(isFresh))
}
