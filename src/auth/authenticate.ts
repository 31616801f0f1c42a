import { eq, sql } from 'drizzle-orm'
import { coalesceReads } from '../data/coalesce.ts'
import { fewRowsOf } from '../data/json-rows.ts'
import { anyOf, type Find, rowStatement, statement } from '../data/prepared.ts'
import { nowMs } from '../database/clock.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../shared/errors.ts'
import { isIdentifier } from '../shared/ids.ts'
import type { Credentials } from './credentials.ts'
import { hashSecret, isSameHash, type KeyMode, readKey } from './key.ts'
import { rememberValidity } from './known-credentials.ts'
import { type IntegrationScope, integrationScopes } from './scopes.ts'
import { grants, integrations, keys } from './table.ts'

/** An authenticated client, and the organizations whose objects it may see, ordered by id. A live client sees
 *  and sells live tickets alone, a test client test tickets alone. `publishable` is a browser with a key of a
 *  channel: it sees the catalogue, and never a person, a code or a document. */
export type Caller =
  | { kind: 'channel'; channelId: string; organizationIds: string[]; mode: KeyMode }
  | { kind: 'publishable'; channelId: string; organizationIds: string[]; mode: KeyMode }
  | {
      kind: 'integration'
      integrationId: string
      organizationIds: [string]
      mode: KeyMode
      scopes: IntegrationScope[]
    }

/** Result of an authentication. `now` is the database's clock, which the whole request uses. `since` is the
 *  start of the lookup and `until` the expiry of the key at the latest, both on the clock of this process
 *  (`performance.now()`). */
export type Authenticated = { caller: Caller; now: Date; since: number; until: number }

const unauthenticated = (message: string, ...path: string[]) =>
  new Refusal({ code: 'UNAUTHENTICATED', message, path })

const keyRows = fewRowsOf({
  id: keys.id,
  mode: keys.mode,
  hash: keys.hash,
  // Milliseconds; null if the key never expires.
  expiresIn: sql<number | null>`(extract(epoch from ${keys.expiresAt} - ${nowMs}) * 1000)::double precision`,
  revoked: sql<boolean>`${keys.revokedAt} is not null`,
  channelId: keys.channelId,
  integrationId: keys.integrationId,
  organizationId: integrations.organizationId,
  granted: sql<
    string[]
  >`array(select ${grants.organizationId} from ${grants} where ${grants.channelId} = ${keys.channelId} order by 1)`,
  // Milliseconds since 1970.
  now: sql<number>`(extract(epoch from now()) * 1000)::double precision`,
})

export type KeyRow = ReturnType<typeof keyRows.read>[number]
/** A stored key: the facts that a presented key is checked against, and the result if it passes. */
export type KnownKey = Pick<KeyRow, 'mode' | 'hash' | 'revoked'> & {
  expired: boolean
  authenticated: Authenticated
}

/** Reads a key by its public id. */
type FindKey = (db: Database, id: string) => Promise<KnownKey | null>

/** Query for keys by their public ids. */
export const findKeys: Find<KeyRow> = {
  rows: keyRows,
  query: (select, keyIds) =>
    select
      .from(keys)
      .leftJoin(integrations, eq(integrations.id, keys.integrationId))
      .where(anyOf(keys.id, keyIds)),
}

function ownerOf({ mode, channelId, integrationId, organizationId, granted }: KeyRow): Caller {
  if (channelId) return { kind: 'channel', channelId, organizationIds: granted, mode }
  if (integrationId && organizationId)
    return {
      kind: 'integration',
      integrationId,
      organizationIds: [organizationId],
      mode,
      scopes: [...integrationScopes],
    }
  throw new Error('a key belongs to a channel or an integration')
}

/** Maps key rows by public id. `since` is when their lookup began. */
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

// Requests that arrive together share one statement, and those with the same key one Authenticated. Nothing
// is cached: a revoked key is refused from the next request on.
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

async function authenticateKey(
  db: Database,
  credentials: Credentials,
  findKey: FindKey,
): Promise<Authenticated> {
  const header = 'x-api-key'
  const read = readKey(credentials.apiKey ?? '')
  if (!read) throw unauthenticated('The API key is malformed.', header)
  const key = await findKey(db, read.id)
  if (!key || key.mode !== read.mode || !isSameHash(credentials.apiKeyHash, key.hash))
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
  const since = performance.now()
  const [integration] = isIdentifier(integrationId)
    ? await integrationById(db).execute({ id: integrationId })
    : []
  if (!integration || !isSameHash(hashSecret(secret), integration.secretHash))
    throw unauthenticated('The integration or its secret is not known.', 'secret')
  return {
    caller: {
      kind: 'integration',
      integrationId,
      organizationIds: [integration.organizationId],
      mode: 'live',
      scopes: [...integrationScopes],
    },
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
  const byKey = credentials.apiKey === undefined ? null : await authenticateKey(db, credentials, findKey)
  if (credentials.isKeyOnly) return byKey
  const bySecret = await authenticateSecret(db, credentials)
  const [organizationId = ''] = bySecret.caller.organizationIds
  // For a channel, any organization that it sells for will do.
  if (byKey && !byKey.caller.organizationIds.some((id) => id === organizationId))
    throw unauthenticated('The two sets of credentials are not of the same organization.', 'integration_id')
  return byKey ?? bySecret
}

/** Authenticates a caller by method v2 (`x-api-key`), method v1 (`integration_id` and `secret`), or both. If
 *  both are sent, both must be valid and of the same organization; a channel belongs to each that it sells
 *  for. Resolves to null if no credentials were sent. A malformed key costs no SQL. Pass `findKey` to read
 *  the key together with other rows. Refuses: UNAUTHENTICATED (INTERFACE, authentication; DECISIONS 2). */
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
