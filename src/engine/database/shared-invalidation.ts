import { type Database, perDatabase } from './database.ts'

const invalidationOf = perDatabase(() => ({ at: Number.NEGATIVE_INFINITY }))

// Upper bound for the lag of a healthy replica.
const maxReplicaLagMs = 2_000

/** Time at which this process last invalidated what is shared, on the clock of `performance.now()`. */
export const invalidatedAt = (db: Database): number => invalidationOf(db).at

/** Reports whether the last invalidation is so recent that a replica may lag behind it. */
export const wasJustInvalidated = (db: Database): boolean =>
  performance.now() - invalidatedAt(db) < maxReplicaLagMs

/** Invalidates what this process has cached to share; the next reads go to the primary. `transaction` calls it once a
 *  change is committed that must be visible at once and was marked by `changesShared`: what becomes
 *  available or is used up, an import, a change of a grant or key. */
export function invalidateShared(db: Database): void {
  invalidationOf(db).at = performance.now()
}
