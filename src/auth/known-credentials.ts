import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { query } from '../data/query.ts'
import { nowMs } from '../database/clock.ts'
import type { Database } from '../database/database.ts'
import { perDatabase } from '../database/per-database.ts'
import type { Credentials } from './credentials.ts'
import { hashSecret } from './key.ts'
import { integrations, keys, organizationSecrets } from './table.ts'

// Hashes of credentials that were valid at their last authentication. Only rate limits use this: every caller
// is still authenticated.
const maxKnown = 20_000
const knownOf = perDatabase(() => new LRUCache<string, true>({ max: maxKnown }))

/** Reports whether credentials with this hash were valid when this process last authenticated them. */
export const wereValid = (db: Database, hash: string): boolean => knownOf(db).get(hash) === true

/** Records the result of an authentication for `wereValid`. */
export function rememberValidity(db: Database, credentials: Credentials, isValid: boolean): void {
  if (isValid) knownOf(db).set(credentials.hash, true)
  else knownOf(db).delete(credentials.hash)
}

// Only the newest are listed. An address that has failed too often is refused with older ones, unless this
// process has authenticated them before.
const maxListed = 20_000

// A secret is valid only together with its integration.
const nameOf = (integrationId: string, secretHash: string) => `${integrationId} ${secretHash}`

/** Matches secrets of organizations that are neither revoked nor expired. */
export const isValidSecret = sql`${organizationSecrets}.revoked_at is null
  and (${organizationSecrets}.expires_at is null or ${organizationSecrets}.expires_at > ${nowMs})`

const listValid = query<{ name: string }>(
  'good_credentials',
  () => sql`(select ${keys.hash} as name from ${keys}
      where ${keys.revokedAt} is null and (${keys.expiresAt} is null or ${keys.expiresAt} > ${nowMs})
      order by ${keys.createdAt} desc limit ${sql.raw(String(maxListed))})
    union all
    (select ${integrations.id} || ' ' || ${integrations.secretHash} from ${integrations}
      where ${integrations.secretHash} is not null
      order by ${integrations.createdAt} desc limit ${sql.raw(String(maxListed))})
    union all
    (select ${integrations.id} || ' ' || ${organizationSecrets.hash} from ${organizationSecrets}
      join ${integrations} on ${integrations.organizationId} = ${organizationSecrets.organizationId}
      where ${integrations.revokedAt} is null and ${isValidSecret}
      order by ${organizationSecrets.createdAt} desc limit ${sql.raw(String(maxListed))})`,
)

type CredentialList = { at: number; names: Promise<Set<string>> }

const listByDatabase = new WeakMap<Database, CredentialList>()

// Maximum age of the list, and so the delay until it has the credentials that another process issues.
const maxListAgeMs = 1_000

function listNames(db: Database): Promise<Set<string>> {
  const listed = listByDatabase.get(db)
  if (listed && performance.now() - listed.at < maxListAgeMs) return listed.names
  const names = listValid(db, {}).then((rows) => new Set(rows.map(({ name }) => name)))
  listByDatabase.set(db, { at: performance.now(), names })
  names.catch(() => listByDatabase.delete(db))
  return names
}

/** Invalidates the list that `mayBeValid` uses. Call it after credentials are issued. */
export const invalidateListed = (db: Database): void => void listByDatabase.delete(db)

/** Reports whether credentials exist and are not revoked, so that they are worth authenticating for an
 *  address that has failed too often. Costs at most one statement per second. Authenticates nobody. */
export async function mayBeValid(db: Database, credentials: Credentials): Promise<boolean> {
  const { apiKey, apiKeyHash, integrationId = '', secret = '', isKeyOnly } = credentials
  const names = await listNames(db)
  if (apiKey !== undefined && !names.has(apiKeyHash)) return false
  return isKeyOnly ? apiKey !== undefined : names.has(nameOf(integrationId, hashSecret(secret)))
}
