import { LRUCache } from 'lru-cache'
import type { Database } from '../database/database.ts'
import { isFast } from '../shared/fast.ts'
import { Loader } from './loader.ts'

/** A value, and the revision that it is of: whatever changes it gives it another, in the same transaction. */
export type Versioned<Value> = { revision: string; value: Value }

/** Revisions by key, as a request was told them by the database. */
export type Revisions = Map<string, string>

type Memory<Value> = LRUCache<string, Versioned<Value>>

// Milliseconds. A revision says whether a value still holds; this only bounds what nothing could tell it of, such as
// triggers that somebody has switched off.
const longest = 10 * 60_000

type Read<Value> = (keys: string[]) => Promise<Map<string, Versioned<Value>>>

/** A loader that does not read again what is remembered, in the revision that the request was told of. */
export class VersionedLoader<Value extends object> extends Loader<Value | null> {
  readonly #revisions: Revisions

  constructor(memory: Memory<Value> | null, revisions: Revisions, read: Read<Value>) {
    super(async (keys) => {
      const found = new Map<string, Value>()
      const missing: string[] = []
      for (const key of keys) {
        const known = memory?.get(key)
        if (known && known.revision === revisions.get(key)) found.set(key, known.value)
        else missing.push(key)
      }
      if (missing.length > 0)
        for (const [key, revised] of await read(missing)) {
          memory?.set(key, revised)
          revisions.set(key, revised.revision)
          found.set(key, revised.value)
        }
      return keys.map((key) => found.get(key) ?? null)
    })
    this.#revisions = revisions
  }

  /** The values of keys whose revisions the database has just told, in their order. */
  loadTold(told: readonly { id: string; revision: string }[]): Promise<(Value | null)[]> {
    for (const { id, revision } of told) this.#revisions.set(id, revision)
    return this.loadAll(told.map(({ id }) => id))
  }
}

/** What is remembered of a database, for a request that was told these revisions. */
type Remembering = { db: Database; rememberedEvents: number; revisions: Revisions }

/** Makes loaders of values that are the same as long as their revision is, whoever asks. `read` gives values with their
 *  revisions, of one snapshot; `mostOf` bounds the sum of the sizes of what is kept of a database, 0 is nothing. Sizes
 *  are rows and not bytes: only an import writes them, whose texts have limits of their own. */
export function versionedLoaders<Value extends object>(
  maxOf: (remembering: Remembering) => number,
  sizeOf: (value: Value) => number,
): (remembering: Remembering, read: Read<Value>) => VersionedLoader<Value> {
  const memories = new WeakMap<Database, Memory<Value>>()
  const memoryOf = (db: Database, most: number): Memory<Value> => {
    const known = memories.get(db)
    if (known) return known
    const made: Memory<Value> = new LRUCache({
      maxSize: most,
      sizeCalculation: ({ value }) => sizeOf(value),
      ttl: longest,
    })
    memories.set(db, made)
    return made
  }
  return (remembering, read) => {
    const most = maxOf(remembering)
    const memory = most > 0 && isFast('versioned-loader') ? memoryOf(remembering.db, most) : null
    return new VersionedLoader(memory, remembering.revisions, read)
  }
}
