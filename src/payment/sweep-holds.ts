import { not } from 'drizzle-orm'
import type { Database } from '../database.ts'
import { expireHolds } from './expire-holds.ts'
import { idempotencyKeys, isFresh } from './table.ts'

const batch = 100

/** Expires overdue holds and forgets idempotency keys of more than 24 hours, every `seconds`, until it is stopped. Any
 *  number of processes may sweep the same database. Stopping waits for what runs. */
export function sweepHolds(
  db: Database,
  seconds: number,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false
  const sweep = async () => {
    while (!stopped && (await expireHolds(db, batch)) === batch);
    await db.delete(idempotencyKeys).where(not(isFresh))
  }
  let running = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    if (stopped) return
    timer = setTimeout(() => {
      running = sweep().catch(onError).finally(next)
    }, seconds * 1000)
    timer.unref()
  }
  next()
  return () => {
    stopped = true
    clearTimeout(timer)
    return running
  }
}
