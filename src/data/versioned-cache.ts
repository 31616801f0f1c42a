import { LRUCache } from 'lru-cache'
import type { Database } from '../database/database.ts'

/** A value and its revision. Every transaction that changes the value also changes the revision. */
export type Versioned<Value> = { revision: string; value: Value }

/** Values by key, with the revisions that they were read in. */
export type VersionedCache<Value> = LRUCache<string, Versioned<Value>>

/** Primary database, and the maximum number of events whose rows are cached by revision. */
export type Source = { db: Database; rememberedEvents: number }

// Revisions decide whether an entry is valid. The TTL is a safety net for changes they miss, such as writes
// made while triggers are disabled.
const ttlMs = 10 * 60_000

/** Rows of all kinds that are cached for each event. */
export const rowsPerEvent = 10

/** Creates one cache per database, of values that depend on no caller. `maxSizeOf` bounds the sum of the cached
 *  sizes; 0 turns the cache off. Sizes count rows, not bytes: only an import writes these rows, and it limits
 *  the length of texts. */
export function versionedCaches<Value extends object>(
  maxSizeOf: (source: Source) => number,
  sizeOf: (value: Value) => number,
): (source: Source) => VersionedCache<Value> | null {
  const caches = new WeakMap<Database, VersionedCache<Value>>()
  return (source) => {
    const maxSize = maxSizeOf(source)
    if (maxSize === 0) return null
    const known = caches.get(source.db)
    if (known) return known
    const created: VersionedCache<Value> = new LRUCache({
      maxSize,
      sizeCalculation: ({ value }) => sizeOf(value),
      ttl: ttlMs,
    })
    caches.set(source.db, created)
    return created
  }
}
