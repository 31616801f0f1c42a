// Slow form: new Loader(read)

import { LRUCache } from 'lru-cache'
import { isFast } from '../base/fast.ts'
import { instruments } from '../base/instruments.ts'
import { type Database, wholeOf } from '../database/database.ts'
import { Loader } from './loader.ts'

/** Value with its revision. Every transaction that changes the value also changes the revision. */
type Versioned = { revision: string }

/** Values by key, with the revisions that they were read in. */
type Cache<Value extends Versioned> = LRUCache<string, Value>

/** Primary database, and the maximum number of events whose rows are cached by revision. */
export type Source = { db: Database; rememberedEvents: number }

// Revisions decide whether an entry is valid. The TTL is a safety net for changes they miss, such as writes
// made while triggers are disabled.
const ttlMs = 10 * 60_000

/** Current revisions by key, as the database reported them to this request. */
export type Revisions = Map<string, string>

type Read<Value> = (keys: string[]) => Promise<Map<string, Value>>

/** Loader with a cache across requests, which a level is looked up in (`loadAll`). Uses a cached value only if its
 *  revision is still the current one. */
class VersionedLoader<Value extends Versioned> extends Loader<Value | null> {
  readonly #cache: Cache<Value> | null
  readonly #revisions: Revisions

  constructor(cache: Cache<Value> | null, revisions: Revisions, read: Read<Value>) {
    super(async (keys) => {
      const found = await read([...keys])
      if (cache) instruments.observer?.onCache('rows', 0, keys.length)
      for (const [key, value] of found) {
        cache?.set(key, value)
        revisions.set(key, value.revision)
      }
      return keys.map((key) => found.get(key) ?? null)
    })
    this.#cache = cache
    this.#revisions = revisions
  }

  override loadAll(keys: readonly string[]): Promise<(Value | null)[]> {
    let hits = 0
    for (const key of keys) {
      const cached = this.#cache?.get(key)
      if (!cached || cached.revision !== this.#revisions.get(key)) continue
      this.prime(key, cached)
      hits++
    }
    instruments.observer?.onCache('rows', hits, 0)
    return super.loadAll(keys)
  }

  /** Loads rows whose current revisions a query has just returned, in the same order. */
  loadRevisions(current: readonly { id: string; revision: string }[]): Promise<(Value | null)[]> {
    for (const { id, revision } of current) this.#revisions.set(id, revision)
    return this.loadAll(current.map(({ id }) => id))
  }
}

/** Creates a factory of versioned loaders that share one cache per database. Values must not depend on the
 *  caller. `maxSizeOf` bounds the sum of the cached sizes; 0 turns the cache off. Sizes count rows, not bytes: only
 *  an import writes these rows, and it limits the length of texts. `read` returns values with their revisions from
 *  one snapshot. */
export function versionedLoaders<Value extends Versioned>(
  maxSizeOf: (rememberedEvents: number) => number,
  sizeOf: (value: Value) => number,
) {
  const caches = new WeakMap<Database, Cache<Value>>()
  function cacheOf({ db, rememberedEvents }: Source): Cache<Value> | null {
    const maxSize = maxSizeOf(rememberedEvents)
    if (maxSize === 0 || !isFast('versioned-loader')) return null
    const cache: Cache<Value> =
      caches.get(wholeOf(db)) ?? new LRUCache({ maxSize, sizeCalculation: sizeOf, ttl: ttlMs })
    caches.set(wholeOf(db), cache)
    return cache
  }
  return (source: Source & { revisions: Revisions }, read: Read<Value>) =>
    new VersionedLoader(cacheOf(source), source.revisions, read)
}
