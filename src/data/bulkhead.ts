import pLimit from 'p-limit'
import type { Connection, Database } from '../database/database.ts'
import { perDatabase } from '../database/per-database.ts'
import { busy } from '../shared/errors.ts'

/** Limits of a bulkhead: pieces of work that run at a time, and that wait. More are refused. */
export type BulkheadLimits = { maxAtOnce: number; maxWaiting: number }

/** Runs work in the order that it comes in, only so much of it at a time: what comes in a rush takes no more connections
 *  than its share, and leaves the others to everybody else. Refuses: BUSY, where too much waits. */
export function createBulkhead({ maxAtOnce, maxWaiting }: BulkheadLimits) {
  const limit = pLimit(maxAtOnce)
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (limit.pendingCount >= maxWaiting) throw busy('Too many requests of this kind at once. Try again.')
    return limit(work)
  }
}

/** Transactions that share a bulkhead, one for each database. */
export function boundedTransactions(limits: BulkheadLimits) {
  const bulkheadOf = perDatabase(() => createBulkhead(limits))
  return <Result>(db: Database, work: (tx: Connection) => Promise<Result>): Promise<Result> =>
    bulkheadOf(db)(() => db.transaction(work))
}
