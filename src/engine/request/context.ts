import type { FastifyRequest, FastifySchema } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Authenticated, Caller, Credentials, Needs } from '../base/caller.ts'
import type { ViewOf } from '../cache/caller-cache.ts'
import type { ResponseCache } from '../cache/response-cache.ts'
import { type Database, perDatabase } from '../database/database.ts'
import { wasJustInvalidated } from '../database/shared-invalidation.ts'
import type { Loaders } from './loaders.ts'

/** Port to what the product knows of callers. */
export type Access = {
  /** Authenticates a caller; null if no credentials were sent. Refuses: UNAUTHENTICATED. */
  authenticate(db: Database, credentials: Credentials): Promise<Authenticated | null>
  /** Creates the context for an authenticated caller; for null, that of a client without credentials. */
  contextOf(services: Services, authenticated: Authenticated | null, address?: string): Context
  /** Refuses a caller that lacks what an operation needs: UNAUTHENTICATED, FORBIDDEN. */
  require(ctx: Context, needs: Needs): void
  viewOf: ViewOf
  /** Reports whether credentials exist and are not revoked, so that they are worth authenticating for an address that has
   *  failed too often. */
  isListed(db: Database, credentials: Credentials): Promise<boolean>
  /** Adds who called to the log line of a request. */
  log(request: FastifyRequest, caller: Caller | null): void
  /** Names the credentials of those who may have what an operation needs, as OpenAPI does. */
  securityOf(needs: Needs): FastifySchema['security']
}

/** Services that all requests share. The product adds its own, and the settings that its verbs read. */
export interface Services {
  db: Database
  access: Access
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
  shared: Database
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

/** Authenticates a request and creates its context, for both surfaces. Remembers the caller of a shared read, whose
 *  next one may then be answered from the cache. Refuses: UNAUTHENTICATED, for invalid credentials. */
export async function createContext(services: Services, credentials: Credentials, isShared = false) {
  const { access, db, responseCache } = services
  const authenticated = await access.authenticate(db, credentials)
  if (authenticated && isShared) responseCache.remember(credentials, authenticated)
  return access.contextOf(services, authenticated, credentials.address)
}

/** Derives the context of a request that makes only shared reads, which may be stale: reads from a replica, unless this
 *  process has just changed what is shared. Call it when the read begins. It has its own loaders, which become garbage
 *  with the read: objects that have waited are promoted to the old generation, and would retain every row that they
 *  loaded until a major collection. */
export function sharedContext({ services, loaders, ...ctx }: Context): Context {
  const { db, replica } = services
  const shared = wasJustInvalidated(db) ? db : replica()
  return { ...ctx, services, shared, loaders: loaders.forShared(shared), refusals: [] }
}

// Hashes of credentials that were valid at their last authentication. Only rate limits use this: every caller
// is still authenticated.
const maxKnown = 20_000
const knownOf = perDatabase(() => new LRUCache<string, true>({ max: maxKnown }))

/** Reports whether credentials with this hash were valid when this process last authenticated them. */
export const isRememberedValid = (db: Database, hash: string): boolean => knownOf(db).get(hash) === true

/** Records the result of an authentication for `isRememberedValid`. */
export function rememberValidity(db: Database, { hash }: Credentials, isValid: boolean): void {
  if (isValid) knownOf(db).set(hash, true)
  else knownOf(db).delete(hash)
}
