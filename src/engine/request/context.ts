import type { Caller, Credentials } from '../base/caller.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import type { Database } from '../database/database.ts'
import type { Loaders } from './loaders.ts'

/** Services that all requests share. The product adds its own, and the settings that its verbs read. */
export interface Services {
  db: Database
  /** Returns the database for shared reads, which may be slightly stale: a replica, or `db` if none responds. */
  replica: () => Database
  /** Returns the public base URL, without a trailing slash. */
  publicUrl: () => string
  /** Answers that callers with the same view share. */
  responseCache: ResponseCache
  /** Number of events whose rows a process may cache. */
  rememberedEvents: number
}

/** Context of a request, which the product adds to. */
export interface Context {
  services: Services
  /** Primary database, for everything but shared reads; its statements and transactions take turns with other callers'. */
  db: Database
  /** Null without credentials: such a client sees nothing but the schema. */
  caller: Caller | null
  /** Database time at authentication. All decisions of the request use it, and no other clock. */
  now: Date
  /** Database for shared reads. */
  catalogue: Database
  loaders: Loaders
  /** Codes of refusals that were returned as data, for the log. Not a function of the request: the context would
   *  keep the request and its body alive, and both would be promoted (see docs/performance.md). */
  refusals: string[]
  /** Identifier of the last event that the client of a stream has received, to go on after it. */
  lastEventId?: string | undefined
}

/** Creates the context of a request, with a row that it seems to name; null if it names none. */
export type CreateContextWith = (
  services: Services,
  credentials: Credentials,
  id: string | null,
) => Promise<Context>
