// Slow form: new Loader(read)

import { LRUCache } from 'lru-cache'
import type { Database } from '../database/database.ts'
import { isFast } from '../shared/fast.ts'
import { instruments } from '../shared/instruments.ts'
import { Loader } from './loader.ts'

/** A value and its revision. Every transaction that changes the value also changes the revision. */
export type Versioned<Value> = { revision: string; value: Value }

/** Current revisions by key, as the database reported them to this request. */
export type Revisions = Map<string, string>

type Cache<Value> = LRUCache<string, Versioned<Value>>

// Revisions decide whether an entry is valid. The TTL is a safety net for changes they miss, such as writes
// made while triggers are disabled.
const ttlMs = 10 * 60_000

type Read<Value> = (keys: string[]) => Promise<Map<string, Versioned<Value>>>

/** Loader with a cache across requests. Uses a cached value only if its revision is still the current one. */
class VersionedLoader<Value extends object> extends Loader<Value | null> {
  readonly #revisions: Revisions

  constructor(cache: Cache<Value> | null, revisions: Revisions, read: Read<Value>) {
    super(async (keys) => {
      const found = new Map<string, Value>()
      const missing: string[] = []
      for (const key of keys) {
        const cached = cache?.get(key)
        if (cached && cached.revision === revisions.get(key)) found.set(key, cached.value)
        else missing.push(key)
      }
      if (cache) instruments.observer?.onCache('rows', keys.length - missing.length, missing.length)
      if (missing.length > 0)
        for (const [key, versioned] of await read(missing)) {
          cache?.set(key, versioned)
          revisions.set(key, versioned.revision)
          found.set(key, versioned.value)
        }
      return keys.map((key) => found.get(key) ?? null)
    })
    this.#revisions = revisions
  }

  /** Loads rows whose current revisions a query has just returned, in the same order. */
  loadRevisions(current: readonly { id: string; revision: string }[]): Promise<(Value | null)[]> {
    for (const { id, revision } of current) this.#revisions.set(id, revision)
    return this.loadAll(current.map(({ id }) => id))
  }
}

/** Parts of a request's reader that a versioned loader needs. */
type Source = { db: Database; rememberedEvents: number; revisions: Revisions }

/** Creates a factory of versioned loaders that share one cache per database. Values must not depend on the
 *  caller. `read` returns values with their revisions from one snapshot. `maxSizeOf` bounds the sum of the
 *  cached sizes; 0 turns the cache off. Sizes count rows, not bytes: only an import writes these rows, and it
 *  limits the length of texts. */
export function versionedLoaders<Value extends object>(
  maxSizeOf: (source: Source) => number,
  sizeOf: (value: Value) => number,
): (source: Source, read: Read<Value>) => VersionedLoader<Value> {
  const caches = new WeakMap<Database, Cache<Value>>()
  const cacheOf = (db: Database, maxSize: number): Cache<Value> => {
    const known = caches.get(db)
    if (known) return known
    const created: Cache<Value> = new LRUCache({
      maxSize,
      sizeCalculation: ({ value }) => sizeOf(value),
      ttl: ttlMs,
    })
    caches.set(db, created)
    return created
  }
  return (source, read) => {
    const maxSize = maxSizeOf(source)
    const cache = maxSize > 0 && isFast('versioned-loader') ? cacheOf(source.db, maxSize) : null
    return new VersionedLoader(cache, source.revisions, read)
  }
}
