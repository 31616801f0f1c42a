import { eq, sql } from 'drizzle-orm'
import { coalesceReads } from '../data/coalesce.ts'
import { fewRowsOf } from '../data/json-rows.ts'
import { nowMs } from '../data/leased-jobs.ts'
import { anyOf, type Find, rowStatement, statement } from '../data/prepared.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../shared/errors.ts'
import { matchesHash, readKey } from './key.ts'
import { type Credentials, rememberValidity } from './known-credentials.ts'
import { grants, integrations, keys } from './table.ts'

/** Who calls, and whose objects it may see: organizations in the order of their ids. */
export type Caller =
  | { kind: 'channel'; channelId: string; organizationIds: string[] }
  | { kind: 'integration'; integrationId: string; organizationIds: [string] }

type Headers = Record<string, string | string[] | undefined>

const one = (value: string | string[] | undefined) => (Array.isArray(value) ? value.join(', ') : value)

/** The credentials that a request sends. */
export const readCredentials = (headers: Headers): Credentials => ({
  apiKey: one(headers['x-api-key']),
  integrationId: one(headers.integration_id),
  secret: one(headers.secret),
})

/** Whether credentials look like some: what does not is refused without any SQL. */
export const areWellFormed = ({ apiKey, integrationId, secret }: Credentials): boolean =>
  apiKey === undefined ? Boolean(integrationId && secret) : readKey(apiKey) !== null

/** A caller, and the database's clock at the moment it was let in: the clock of the whole request. On the clock of this
 *  process (`performance.now()`), when that was begun to be looked up, and when its key expires, or before. */
export type Authenticated = { caller: Caller; now: Date; since: number; until: number }

const unauthenticated = (message: string, ...path: string[]) =>
  new Refusal({ code: 'UNAUTHENTICATED', message, path })

const keyRows = fewRowsOf({
  id: keys.id,
  mode: keys.mode,
  hash: keys.hash,
  // In milliseconds: null for never.
  expiresIn: sql<number | null>`(extract(epoch from ${keys.expiresAt} - ${nowMs}) * 1000)::double precision`,
  revoked: sql<boolean>`${keys.revokedAt} is not null`,
  channelId: keys.channelId,
  integrationId: keys.integrationId,
  organizationId: integrations.organizationId,
  granted: sql<
    string[]
  >`array(select ${grants.organizationId} from ${grants} where ${grants.channelId} = ${keys.channelId} order by 1)`,
  // In milliseconds since 1970.
  now: sql<number>`(extract(epoch from now()) * 1000)::double precision`,
})

export type KeyRow = ReturnType<typeof keyRows.read>[number]
/** What a key is held against, and whom it lets in. */
export type KnownKey = Pick<KeyRow, 'mode' | 'hash' | 'revoked'> & {
  expired: boolean
  authenticated: Authenticated
}

/** A reader of keys by their public ids. */
type FindKey = (db: Database, id: string) => Promise<KnownKey | null>

/** What finds the keys of public ids. */
export const findKeys: Find<KeyRow> = {
  rows: keyRows,
  query: (select) =>
    select
      .from(keys)
      .leftJoin(integrations, eq(integrations.id, keys.integrationId))
      .where(anyOf(keys.id, 'keys')),
}

function ownerOf({ channelId, integrationId, organizationId, granted }: KeyRow): Caller {
  if (channelId) return { kind: 'channel', channelId, organizationIds: granted }
  if (integrationId && organizationId)
    return { kind: 'integration', integrationId, organizationIds: [organizationId] }
  throw new Error('a key belongs to a channel or an integration')
}

/** Keys by their public ids, as they were found by what began at `since`. */
export const knownKeys = (rows: KeyRow[], since: number): Map<string, KnownKey> =>
  new Map(
    rows.map((row) => {
      const { id, mode, hash, revoked } = row
      const expiresIn = row.expiresIn ?? Number.POSITIVE_INFINITY
      const clocks = { now: new Date(row.now), since, until: since + expiresIn }
      const authenticated = { caller: ownerOf(row), ...clocks }
      return [id, { mode, hash, revoked, expired: expiresIn <= 0, authenticated }]
    }),
  )

// Requests that arrive together are let in by one statement, and those with the same key as one and the same
// Authenticated. Nothing is kept here for later ones: a revoked key is refused from the next request on.
const keyById = coalesceReads<KnownKey>(async (db, ids) => {
  const since = performance.now()
  return knownKeys(await rowStatement(db, 'keys_by_id', findKeys).execute({ keys: ids }), since)
})

const integrationById = (db: Database) =>
  statement(db, 'integration_by_id', (db) =>
    db
      .select({
        organizationId: integrations.organizationId,
        secretHash: integrations.secretHash,
        now: sql<Date>`now()`.mapWith(keys.createdAt),
      })
      .from(integrations)
      .where(eq(integrations.id, sql.placeholder('id'))),
  )

async function authenticateKey(db: Database, apiKey: string, findKey: FindKey): Promise<Authenticated> {
  const header = 'x-api-key'
  const read = readKey(apiKey)
  if (!read) throw unauthenticated('The API key is malformed.', header)
  const key = await findKey(db, read.id)
  if (!key || key.mode !== read.mode || !matchesHash(apiKey, key.hash))
    throw unauthenticated('The API key is not known.', header)
  if (key.revoked) throw unauthenticated('The API key is revoked.', header)
  if (key.expired) throw unauthenticated('The API key has expired.', header)
  return key.authenticated
}

async function authenticateSecret(
  db: Database,
  { integrationId, secret }: Credentials,
): Promise<Authenticated> {
  if (!integrationId) throw unauthenticated('The header integration_id is missing.', 'integration_id')
  if (!secret) throw unauthenticated('The header secret is missing.', 'secret')
  const wellFormed = /^[\w.:-]{1,64}$/.test(integrationId)
  const since = performance.now()
  const [integration] = wellFormed ? await integrationById(db).execute({ id: integrationId }) : []
  if (!integration || !matchesHash(secret, integration.secretHash))
    throw unauthenticated('The integration or its secret is not known.', 'secret')
  return {
    caller: { kind: 'integration', integrationId, organizationIds: [integration.organizationId] },
    now: integration.now,
    since,
    until: Number.POSITIVE_INFINITY,
  }
}

async function verify(
  db: Database,
  credentials: Credentials,
  findKey: FindKey,
): Promise<Authenticated | null> {
  const byKey =
    credentials.apiKey === undefined ? null : await authenticateKey(db, credentials.apiKey, findKey)
  if (credentials.integrationId === undefined && credentials.secret === undefined) return byKey
  const bySecret = await authenticateSecret(db, credentials)
  const [organizationId = ''] = bySecret.caller.organizationIds
  // A channel belongs to the organizations that it sells for.
  if (byKey && !byKey.caller.organizationIds.some((id) => id === organizationId))
    throw unauthenticated('The two sets of credentials are not of the same organization.', 'integration_id')
  return byKey ?? bySecret
}

/** Lets a caller in by method v2 (`x-api-key`), method v1 (`integration_id` and `secret`), or both, which must then
 *  be valid and of the same organization, which for a channel is one that it sells for. Null where no credentials were
 *  sent. A malformed key costs no SQL. `findKey` is for who reads the key together with something else.
 *  Refuses: UNAUTHENTICATED (INTERFACE, authentication; DECISIONS 2). */
export async function authenticate(
  db: Database,
  credentials: Credentials,
  findKey: FindKey = keyById,
): Promise<Authenticated | null> {
  try {
    const authenticated = await verify(db, credentials, findKey)
    if (authenticated) rememberValidity(db, credentials, true)
    return authenticated
  } catch (error) {
    if (error instanceof Refusal) rememberValidity(db, credentials, false)
    throw error
  }
}
