import { type SQL, sql } from 'drizzle-orm'
import type { FastifyInstance } from 'fastify'
import { sha256 } from '../../engine/base/ids.ts'
import { query } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { clientAddress } from '../../engine/http/connection-limits.ts'
import { readApiKey } from './api-key.ts'
import { integrations, isValid, keys, organizationSecrets } from './table.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Credentials of the request, not yet authenticated. */
    credentials: Credentials
  }
}

// Node joins headers of one name, but for a few that are not read here.
type Headers = Record<string, string | undefined>

/** Credentials of both methods: `x-api-key` (v2), `integration_id` and `secret` (v1). */
export class Credentials {
  readonly apiKey: string | undefined
  readonly integrationId: string | undefined
  readonly secret: string | undefined
  /** Origin of the page that sent the request; undefined if no browser did. */
  readonly origin: string | undefined
  /** True if only an API key was sent, or nothing. */
  readonly isKeyOnly: boolean
  /** True if the API key says that it is publishable. */
  readonly isPublic: boolean
  /** Address of a client with a publishable key, for limits; else ''. */
  address = ''
  #hash: string | undefined

  /** Reads the credentials from the headers of a request. */
  constructor(headers: Headers) {
    this.apiKey = headers['x-api-key']
    this.integrationId = headers.integration_id
    this.secret = headers.secret
    this.origin = headers.origin
    this.isKeyOnly = this.integrationId === undefined && this.secret === undefined
    this.isPublic = this.apiKey?.startsWith('box_pub_') ?? false
  }

  get sentIn(): string {
    return 'x-api-key, integration_id, secret'
  }

  /** Facts that the API key states; null without one, or if it is malformed. */
  get keyFacts() {
    return readApiKey(this.apiKey ?? '')
  }

  /** Hash of the API key, as it is stored. */
  get apiKeyHash(): string {
    return this.isKeyOnly ? this.hash : sha256(this.apiKey ?? '')
  }

  /** Cache key that identifies the credentials and does not reveal them. Computed once: limits, caches and
   *  authentication all use it. */
  get hash(): string {
    const { apiKey, integrationId, secret, isKeyOnly } = this
    this.#hash ??= sha256(isKeyOnly ? (apiKey ?? '') : JSON.stringify([apiKey, integrationId, secret]))
    return this.#hash
  }

  /** Reports whether they are well formed. Malformed credentials are refused without any SQL. */
  get areWellFormed(): boolean {
    return this.apiKey === undefined ? Boolean(this.integrationId && this.secret) : this.keyFacts !== null
  }
}

type KeyCredentials = Credentials

declare module '../../engine/base/caller.ts' {
  interface Credentials extends KeyCredentials {}
}

/** Reads the credentials of every request into `request.credentials`. Call it before the routes are added. */
export function readCredentials(app: FastifyInstance): void {
  app.decorateRequest('credentials')
  app.addHook('onRequest', (request, _reply, done) => {
    request.credentials = new Credentials(request.headers as Headers)
    if (request.credentials.isPublic) request.credentials.address = clientAddress(request)
    done()
  })
}

// Only the newest are listed. An address that has failed too often is refused with older ones, unless this
// process has authenticated them before.
const maxListed = 20_000

// A secret is valid only together with its integration.
const nameOf = (integrationId: string, secretHash: string) => `${integrationId} ${secretHash}`

// Maximum age of a list, and so the delay until it has what another process issues.
const maxListAgeMs = 1_000

/** Keeps the texts that a statement lists for each database, for a second at most. */
function listOf(name: string, statement: () => SQL) {
  const read = query<{ listed: string }>(name, statement)
  const lists = new WeakMap<Database, { at: number; listed: Promise<Set<string>> }>()
  return {
    async get(db: Database): Promise<Set<string>> {
      const last = lists.get(db)
      if (last && performance.now() - last.at < maxListAgeMs) return last.listed
      const listed = read(db, {}).then((rows) => new Set(rows.map(({ listed }) => listed)))
      lists.set(db, { at: performance.now(), listed })
      listed.catch(() => lists.delete(db))
      return listed
    },
    invalidate: (db: Database): void => void lists.delete(db),
  }
}

const validNames = listOf(
  'good_credentials',
  () => sql`(select ${keys.hash} as listed from ${keys}
      where ${isValid(keys)}
      order by ${keys.createdAt} desc limit ${sql.raw(String(maxListed))})
    union all
    (select ${integrations.id} || ' ' || ${integrations.secretHash} from ${integrations}
      where ${integrations.secretHash} is not null
      order by ${integrations.createdAt} desc limit ${sql.raw(String(maxListed))})
    union all
    (select ${integrations.id} || ' ' || ${organizationSecrets.hash} from ${organizationSecrets}
      join ${integrations} on ${integrations.organizationId} = ${organizationSecrets.organizationId}
      where ${integrations.revokedAt} is null and ${isValid(organizationSecrets)}
      order by ${organizationSecrets.createdAt} desc limit ${sql.raw(String(maxListed))})`,
)

/** Invalidates the list that `isListedValid` uses. Call it after credentials are issued. */
export const invalidateListOfValid = validNames.invalidate

/** Reports whether credentials exist and are not revoked, so that they are worth authenticating for an
 *  address that has failed too often. Costs at most one statement per second. Authenticates nobody. */
export async function isListedValid(db: Database, credentials: Credentials): Promise<boolean> {
  const { apiKey, apiKeyHash, integrationId = '', secret = '', isKeyOnly } = credentials
  const names = await validNames.get(db)
  if (apiKey !== undefined && !names.has(apiKeyHash)) return false
  return isKeyOnly ? apiKey !== undefined : names.has(nameOf(integrationId, sha256(secret)))
}

// A key has at most twenty.
const validOrigins = listOf(
  'publishable_origins',
  () => sql`select distinct unnest(origins) as listed from (
    select ${keys.origins} as origins from ${keys}
    where ${keys.origins} is not null and ${isValid(keys)}
    order by ${keys.createdAt} desc limit ${sql.raw(String(maxListed))}) as live`,
)

/** Origins of pages that this machine serves itself, at any port: `*` stands for none or any. */
export const loopbackOrigins = ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*']

/** Reports whether a page of this origin is one of those that a key names. */
export const includesOrigin = (named: { has(origin: string): boolean }, origin: string): boolean =>
  named.has(origin) ||
  named.has(origin.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?$/, '$1:*'))

/** Reports whether some valid publishable key was issued for this origin. A preflight carries no key, so this is
 *  all that can be asked before the request itself. Costs at most one statement per second. */
export const isPublishableOrigin = async (db: Database, origin: string): Promise<boolean> =>
  includesOrigin(await validOrigins.get(db), origin)
