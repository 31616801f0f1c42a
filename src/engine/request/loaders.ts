import type { Reach } from '../base/caller.ts'
import { createReader, type Reader, type Readers } from '../data/batch-loader.ts'
import type { Source } from '../data/versioned-loader.ts'
import type { Database } from '../database/database.ts'

/** Creates a loader for one request. The definition is also the key that its loader is found by. */
export type LoaderDefinition<Loader> = (readers: Readers, loaders: Loaders) => Loader

/** Loaders of one request: one per definition, created on first use. They find only rows in the request's
 *  reach. */
export class Loaders implements Readers {
  readonly #source: Source
  readonly #shared: Database
  readonly #reach: Reach
  readonly #loaders = new Map<LoaderDefinition<unknown>, unknown>()
  readonly #readers = new Map<Database, Reader>()

  /** Makes shared reads from `shared`, such as a replica, and everything else from `source.db`. */
  constructor(source: Source, shared: Database, reach: Reach) {
    this.#source = source
    this.#shared = shared
    this.#reach = reach
  }

  /** Makes loaders with the same reach, whose shared reads go to another database. */
  forShared(db: Database): Loaders {
    return new Loaders(this.#source, db, this.#reach)
  }

  get own(): Reader {
    return this.#readerOf(this.#source.db)
  }

  get shared(): Reader {
    return this.#readerOf(this.#shared)
  }

  get<Loader>(definition: LoaderDefinition<Loader>): Loader {
    const known = this.#loaders.get(definition) as Loader | undefined
    if (known !== undefined) return known
    const made = definition(this, this)
    this.#loaders.set(definition, made)
    return made
  }

  load<Value>(definition: LoaderDefinition<{ load(key: string): Promise<Value> }>, key: string) {
    return this.get(definition).load(key)
  }

  /** Forgets everything that was loaded. Every write calls this, whatever it changed. */
  clear(): void {
    this.#loaders.clear()
    this.#readers.clear()
  }

  #readerOf(db: Database): Reader {
    const reader = this.#readers.get(db) ?? createReader(db, this.#reach, this.#source.rememberedEvents)
    this.#readers.set(db, reader)
    return reader
  }
}
