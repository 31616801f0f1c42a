import { and, eq, isNull, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { Authenticated } from '../../engine/base/caller.ts'
import { Refusal, unauthenticated } from '../../engine/base/errors.ts'
import { isIdentifier, sha256 } from '../../engine/base/ids.ts'
import { hasTriggers } from '../../engine/data/by-organization.ts'
import { joinReads } from '../../engine/data/join-reads.ts'
import { fewRowsOf } from '../../engine/data/json-rows.ts'
import { anyOf, type Find, query, textArrayParam } from '../../engine/data/query.ts'
import { nowMs } from '../../engine/database/clock.ts'
import { type Database, perDatabase } from '../../engine/database/database.ts'
import { rememberValidity } from '../../engine/request/context.ts'
import { refusal } from '../contract/problem-codes.ts'
import { integrationScopes, isSameHash } from './api-key.ts'
import type { Caller } from './caller.ts'
import { type Credentials, includesOrigin } from './credentials.ts'
import type { Mode } from './mode.ts'
import { channels, grants, integrations, isValid, keys, organizationSecrets } from './table.ts'

// Milliseconds since 1970.
const now = sql<number>`(extract(epoch from now()) * 1000)::double precision`

const keyRows = fewRowsOf({
  id: keys.id,
  mode: keys.mode,
  hash: keys.hash,
  // Milliseconds; null if the key never expires.
  expiresIn: sql<number | null>`(extract(epoch from ${keys.expiresAt} - ${nowMs}) * 1000)::double precision`,
  revoked: sql<boolean>`${keys.revokedAt} is not null`,
  channelId: keys.channelId,
  integrationId: keys.integrationId,
  origins: keys.origins,
  scopes: keys.scopes,
  organizationId: integrations.organizationId,
  revision: channels.revision,
  // Null if the process remembers them.
  granted: sql<string[] | null>`reached.granted`,
  now,
})

export type KeyRow = ReturnType<typeof keyRows.read>[number]

/** Reads a key by its public id. */
type FindKey = (db: Database, id: string) => Promise<KnownKey | null>

// By key, the organizations that its channel reaches, and the revision that says whether they are still those.
const remembered = perDatabase(
  () =>
    new LRUCache<string, { revision: string; granted: string[] }>({
      maxSize: 100_000,
      sizeCalculation: ({ granted }) => granted.length + 1,
    }),
)

/** Returns the values by which `findKeys` finds keys: their public ids, and for each of those whose organizations this
 *  process remembers their revision. A list of thousands is read again only once it has changed. */
export const namedKeys = (db: Database, ids: string[]): string[] =>
  ids.flatMap((id) => [id, `${id} ${remembered(db).get(id)?.revision}`])

/** Query for keys by `namedKeys`. */
export const findKeys: Find<KeyRow> = {
  rows: keyRows,
  query: (select, keyIds) =>
    select
      .from(keys)
      .leftJoin(integrations, eq(integrations.id, keys.integrationId))
      .leftJoin(channels, eq(channels.id, keys.channelId))
      .leftJoin(
        sql`lateral (select case when ${keys.id} || ' ' || ${channels.revision} = any(${textArrayParam(keyIds)}) then null else
          array(select ${grants.organizationId} from ${grants} where ${grants.channelId} = ${keys.channelId} order by 1)
          end as granted) as reached`,
        sql`true`,
      )
      .where(anyOf(keys.id, keyIds)),
}

const integrationOf = (
  integrationId: string,
  organizationId: string,
  mode: Mode,
  scopes = [...integrationScopes],
): Caller => ({ kind: 'integration', integrationId, organizationIds: [organizationId], mode, scopes })

function ownerOf(
  { mode, channelId, integrationId, organizationId, ...row }: KeyRow,
  organizationIds: string[],
): Caller {
  if (integrationId) return integrationOf(integrationId, organizationId, mode, row.scopes ?? undefined)
  if (!channelId) throw new Error('a key belongs to a channel or an integration')
  const { origins } = row
  const seller = { channelId, organizationIds, mode }
  return origins ? { kind: 'publishable', ...seller, origin: '', origins } : { kind: 'channel', ...seller }
}

/** A stored key: the facts that a presented key is checked against, and the result if it passes. */
export type KnownKey = ReturnType<typeof toKnownKey>

function toKnownKey(row: KeyRow, granted: string[], since: number) {
  const { mode, hash, revoked, expiresIn } = row
  const until = since + (expiresIn ?? Number.POSITIVE_INFINITY)
  const authenticated: Authenticated = { caller: ownerOf(row, granted), now: new Date(row.now), since, until }
  return { mode, hash, revoked, expired: expiresIn !== null && expiresIn <= 0, authenticated }
}

/** Maps key rows by public id. `since` is when their lookup began. Null if what it relied on was forgotten meanwhile. */
export function knownKeys(db: Database, rows: KeyRow[], since: number): Map<string, KnownKey> | null {
  const known = new Map<string, KnownKey>()
  for (const row of rows) {
    const { id, revision, granted = null } = row
    // Triggers renew revisions.
    if (granted && revision && hasTriggers(db)) remembered(db).set(id, { revision, granted })
    const organizationIds = granted ?? remembered(db).get(id)?.granted
    if (!organizationIds) return null
    known.set(id, toKnownKey(row, organizationIds, since))
  }
  return known
}

const keysById = query('keys_by_id', findKeys)

// Requests that arrive together share one statement, and those with the same key one Authenticated. No key is
// cached: a revoked one is refused from the next request on.
const keyById = joinReads<KnownKey>(async (db, ids) => {
  const since = performance.now()
  const read = async (keys: string[]) => knownKeys(db, await keysById(db, { keys }), since)
  return (await read(namedKeys(db, ids))) ?? (await read(ids)) ?? new Map()
})

const otherOrigin = 'This publishable key is for pages of other origins.'
const noOrigin =
  'A publishable key is for pages, whose browser sends the header Origin. An app or a program asks a server of its own, which has the key of the channel.'

// A browser states the origin of the page, and lets no page state another one. A program can: so a publishable
// key is no secret, and all that it may do is safe in anybody's hands.
function fromItsOrigin(authenticated: Authenticated, { origin }: Credentials): Authenticated {
  const { caller } = authenticated
  if (caller.kind !== 'publishable') return authenticated
  if (origin === undefined || !includesOrigin(new Set(caller.origins), origin))
    throw refusal('ORIGIN_NOT_ALLOWED', origin === undefined ? noOrigin : otherOrigin, ['origin'])
  return { ...authenticated, caller: { ...caller, origin } }
}

async function authenticateKey(db: Database, credentials: Credentials, findKey: FindKey) {
  const header = 'x-api-key'
  const read = credentials.keyFacts
  if (!read) throw unauthenticated('The API key is malformed.', header)
  const key = await findKey(db, read.id)
  if (!key || key.mode !== read.mode || !isSameHash(credentials.apiKeyHash, key.hash))
    throw unauthenticated('The API key is not known.', header)
  if (key.revoked) throw unauthenticated('The API key is revoked.', header)
  if (key.expired) throw unauthenticated('The API key has expired.', header)
  return fromItsOrigin(key.authenticated, credentials)
}

async function verify(db: Database, credentials: Credentials, findKey: FindKey) {
  const byKey = credentials.apiKey === undefined ? null : await authenticateKey(db, credentials, findKey)
  if (credentials.isKeyOnly) return byKey
  const bySecret = await authenticateSecret(db, credentials)
  const [organizationId = ''] = bySecret.caller.organizationIds
  // For a channel, any organization that it sells for will do.
  if (byKey && !byKey.caller.organizationIds.some((id) => id === organizationId))
    throw unauthenticated('The two sets of credentials are not of the same organization.', 'integration_id')
  return byKey ?? bySecret
}

// A generator that knows no alternative between methods sends the headers of all of them.
function tellingWhatWasSent(refused: Refusal, { apiKey, integrationId, secret, isKeyOnly }: Credentials) {
  if (apiKey === undefined || isKeyOnly) return refused
  const sent = Object.entries({ 'X-Api-Key': apiKey, integration_id: integrationId, secret })
  const names = sent.flatMap(([name, value]) => (value === undefined ? [] : name)).join(', ')
  const message = `${refused.message} The request has the headers ${names}, and all that are sent must be good: send X-Api-Key alone, or integration_id and secret.`
  return unauthenticated(message, ...(refused.problems[0].path ?? []).map(String))
}

/** Authenticates a caller by method v2 (`x-api-key`), method v1 (`integration_id` and `secret`), or both. If
 *  both are sent, both must be valid and of the same organization; a channel belongs to each that it sells
 *  for. Resolves to null if no credentials were sent. A malformed key costs no SQL. Pass `findKey` to read
 *  the key together with other rows. Refuses: UNAUTHENTICATED; ORIGIN_NOT_ALLOWED for a publishable key from
 *  a page that it was not issued for (INTERFACE, authentication; DECISIONS, access; DECISIONS, keys). */
export async function authenticate(db: Database, credentials: Credentials, findKey: FindKey = keyById) {
  try {
    const authenticated = await verify(db, credentials, findKey)
    if (authenticated) rememberValidity(db, credentials, true)
    return authenticated
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'UNAUTHENTICATED') throw error
    rememberValidity(db, credentials, false)
    throw tellingWhatWasSent(error, credentials)
  }
}

// An integration that is not revoked, with the hashes of the secrets that are good with it.
const integrationById = query('credentials_of_integration', {
  rows: fewRowsOf({
    organizationId: integrations.organizationId,
    secretHash: integrations.secretHash,
    organizationHashes: sql<string[]>`array(select ${organizationSecrets.hash} from ${organizationSecrets}
      where ${organizationSecrets}.organization_id = ${integrations}.organization_id and ${isValid(organizationSecrets)})`,
    now,
  }),
  query: (select) =>
    select
      .from(integrations)
      .where(and(eq(integrations.id, sql.placeholder('id')), isNull(integrations.revokedAt))),
})

// Compares with every hash, so that the time tells nothing about which one is right.
const isAnyHash = (hash: string, stored: (string | null)[]): boolean =>
  stored.map((one) => isSameHash(hash, one)).includes(true)

/** Authenticates an integration by method v1: with the secret that it has for itself, or with one of its
 *  organization. Such a caller is live and has all scopes. Takes one statement. Refuses: UNAUTHENTICATED. */
async function authenticateSecret(db: Database, { integrationId, secret }: Credentials) {
  if (!integrationId) throw unauthenticated('The header integration_id is missing.', 'integration_id')
  if (!secret) throw unauthenticated('The header secret is missing.', 'secret')
  const since = performance.now()
  const [integration] = isIdentifier(integrationId) ? await integrationById(db, { id: integrationId }) : []
  const stored = integration ? [integration.secretHash, ...integration.organizationHashes] : []
  if (!integration || !isAnyHash(sha256(secret), stored))
    throw unauthenticated('The integration or its secret is not known.', 'secret')
  return {
    caller: integrationOf(integrationId, integration.organizationId, 'live'),
    now: new Date(integration.now),
    since,
    until: Number.POSITIVE_INFINITY,
  }
}
