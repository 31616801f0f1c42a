import type { Scope } from './batch.ts'
import type { Database } from './database.ts'
import { eventLoaders } from './event/loaders.ts'
import { locationLoaders } from './location/loaders.ts'
import { organizationLoaders } from './organization/loaders.ts'
import { paymentLoaders } from './payment/loaders.ts'
import { createReader, type Reader, type Readers } from './reader.ts'
import { refundLoaders } from './refund/loaders.ts'
import { ticketLoaders } from './ticket/loaders.ts'
import { ticketRateLoaders } from './ticket-rate/loaders.ts'

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

/** Where a request reads what is a client's own, and the catalogue, of which it may remember so many events. */
export type Sources = { db: Database; catalogue: Database; rememberedEvents: number }

// Each is made when it is first asked for: to make all of them takes a fifth of what a lookup takes.
class LazyLoaders implements Readers {
  readonly #sources: Sources
  readonly #scope: Scope
  #own?: Reader
  #catalogue?: Reader

  constructor(sources: Sources, scope: Scope) {
    this.#sources = sources
    this.#scope = scope
  }

  get own(): Reader {
    const { db, rememberedEvents } = this.#sources
    this.#own ??= createReader(db, this.#scope, rememberedEvents)
    return this.#own
  }

  get catalogue(): Reader {
    const { db, catalogue, rememberedEvents } = this.#sources
    this.#catalogue ??= db === catalogue ? this.own : createReader(catalogue, this.#scope, rememberedEvents)
    return this.#catalogue
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

/** The loaders of a request: what each may find is bound to its scope. */
export const createLoaders = (sources: Sources, scope: Scope): Loaders =>
  new LazyLoaders(sources, scope) as unknown as Loaders
