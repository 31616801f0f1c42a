import pLimit from 'p-limit'
import { type Connection, type Database, perDatabase } from '../database/database.ts'
import { transaction } from '../database/transaction.ts'
import { busy } from '../shared/errors.ts'

/** Limits of a bulkhead: work that runs at once, and work that waits. Anything beyond is refused. */
type BulkheadLimits = { maxAtOnce: number; maxWaiting: number }

/** Creates a bulkhead, for work that no batch joins: runs it first come, first served, up to a limit, so that a rush of one
 *  kind leaves connections for everything else. Refuses: BUSY if too much is waiting. */
export function createBulkhead({ maxAtOnce, maxWaiting }: BulkheadLimits) {
  const limit = pLimit(maxAtOnce)
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (limit.pendingCount >= maxWaiting) throw busy('Too many requests of this kind at once. Try again.')
    return limit(work)
  }
}

/** Runs transactions through one bulkhead per database. */
export function boundedTransactions(limits: BulkheadLimits) {
  const bulkheadOf = perDatabase(() => createBulkhead(limits))
  return <Result>(db: Database, work: (tx: Connection) => Promise<Result>): Promise<Result> =>
    bulkheadOf(db)(() => transaction(db, work))
}
