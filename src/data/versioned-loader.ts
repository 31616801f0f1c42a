// Slow form: new Loader(read)

import { isFast } from '../shared/fast.ts'
import { instruments } from '../shared/instruments.ts'
import { Loader } from './loader.ts'
import { type Source, type Versioned, type VersionedCache, versionedCaches } from './versioned-cache.ts'

/** Current revisions by key, as the database reported them to this request. */
export type Revisions = Map<string, string>

type Read<Value> = (keys: string[]) => Promise<Map<string, Versioned<Value>>>

/** Loader with a cache across requests. Uses a cached value only if its revision is still the current one. */
class VersionedLoader<Value extends object> extends Loader<Value | null> {
  readonly #revisions: Revisions

  constructor(cache: VersionedCache<Value> | null, revisions: Revisions, read: Read<Value>) {
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

/** Creates a factory of versioned loaders that share one cache per database (see `versionedCaches`). Values must
 *  not depend on the caller. `read` returns values with their revisions from one snapshot. */
export function versionedLoaders<Value extends object>(
  maxSizeOf: (source: Source) => number,
  sizeOf: (value: Value) => number,
): (source: Source & { revisions: Revisions }, read: Read<Value>) => VersionedLoader<Value> {
  const cacheOf = versionedCaches(maxSizeOf, sizeOf)
  return (source, read) =>
    new VersionedLoader(isFast('versioned-loader') ? cacheOf(source) : null, source.revisions, read)
}
