import { createReader, type Reader, type Readers } from '../data/batch-loader.ts'
import type { Scope } from '../data/prepared.ts'
import type { Database } from '../database/database.ts'
import { eventLoaders } from '../domain/event/loaders.ts'
import { locationLoaders } from '../domain/location/loaders.ts'
import { organizationLoaders } from '../domain/organization/loaders.ts'
import { paymentLoaders } from '../domain/payment/loaders.ts'
import { refundLoaders } from '../domain/refund/loaders.ts'
import { ticketLoaders } from '../domain/ticket/loaders.ts'
import { ticketRateLoaders } from '../domain/ticket-rate/loaders.ts'

const makers = {
  ...organizationLoaders,
  ...locationLoaders,
  ...eventLoaders,
  ...ticketRateLoaders,
  ...paymentLoaders,
  ...ticketLoaders,
  ...refundLoaders,
}

/** All that a request may load. */
export type Loaders = { readonly [Name in keyof typeof makers]: ReturnType<(typeof makers)[Name]> }

/** What all requests load from: where they read what is a client's own, and how many events they may remember. */
export type Source = { db: Database; rememberedEvents: number }

// Each is made when it is first asked for: to make all of them takes a fifth of what a lookup takes.
class LazyLoaders implements Readers {
  readonly #source: Source
  readonly #catalogue: Database
  readonly #scope: Scope
  #ownReader?: Reader
  #catalogueReader?: Reader

  constructor(source: Source, catalogue: Database, scope: Scope) {
    this.#source = source
    this.#catalogue = catalogue
    this.#scope = scope
  }

  get own(): Reader {
    this.#ownReader ??= this.#readerOf(this.#source.db)
    return this.#ownReader
  }

  get catalogue(): Reader {
    const isOwn = this.#catalogue === this.#source.db
    this.#catalogueReader ??= isOwn ? this.own : this.#readerOf(this.#catalogue)
    return this.#catalogueReader
  }

  #readerOf(db: Database): Reader {
    return createReader(db, this.#scope, this.#source.rememberedEvents)
  }
}

for (const [name, make] of Object.entries(makers))
  Object.defineProperty(LazyLoaders.prototype, name, {
    get(this: LazyLoaders & Loaders) {
      const value = make(this, this)
      Object.defineProperty(this, name, { value })
      return value
    },
  })

/** The loaders of a request: what each may find is bound to its scope. `catalogue` is the database that the catalogue
 *  is read from, such as a replica. */
export const createLoaders = (source: Source, catalogue: Database, scope: Scope): Loaders =>
  new LazyLoaders(source, catalogue, scope) as unknown as Loaders
