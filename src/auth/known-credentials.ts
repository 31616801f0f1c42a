import { sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import { nowMs } from '../data/leased-jobs.ts'
import { preparedSql } from '../data/prepared.ts'
import type { Database } from '../database/database.ts'
import { hashSecret } from './key.ts'
import { integrations, keys } from './table.ts'

/** The headers of both methods: `x-api-key` (v2), `integration_id` and `secret` (v1). */
export type Credentials = { apiKey?: string; integrationId?: string; secret?: string }

/** One name for the same credentials, which tells nothing of them. */
export const hashCredentials = ({ apiKey, integrationId, secret }: Credentials): string =>
  hashSecret(JSON.stringify([apiKey, integrationId, secret]))

// Hashes of credentials that were good when they were last looked up. Only rate limits go by this: a caller is
// authenticated all the same.
const knownByDatabase = new WeakMap<Database, LRUCache<string, true>>()
const maxKnown = 20_000

/** Whether credentials of this hash were good the last time that this process looked them up. */
export const wereValid = (db: Database, hash: string): boolean => knownByDatabase.get(db)?.get(hash) === true

/** Keeps for `wereValid` what a lookup of credentials found. */
export function rememberValidity(db: Database, credentials: Credentials, isGood: boolean): void {
  const known = knownByDatabase.get(db) ?? new LRUCache<string, true>({ max: maxKnown })
  knownByDatabase.set(db, known)
  const hash = hashCredentials(credentials)
  if (isGood) known.set(hash, true)
  else known.delete(hash)
}

// The newest are listed where a platform has more: the others are refused to an address that has failed too often, unless
// this process has looked them up before.
const maxListed = 20_000

// A secret alone says nothing: it belongs to its integration.
const nameOf = (integrationId: string, secretHash: string) => `${integrationId} ${secretHash}`

const listGood = preparedSql<{ name: string }>(
  'good_credentials',
  () => sql`(select ${keys.hash} as name from ${keys}
      where ${keys.revokedAt} is null and (${keys.expiresAt} is null or ${keys.expiresAt} > ${nowMs})
      order by ${keys.createdAt} desc limit ${sql.raw(String(maxListed))})
    union all
    (select ${integrations.id} || ' ' || ${integrations.secretHash} from ${integrations}
      where ${integrations.secretHash} is not null
      order by ${integrations.createdAt} desc limit ${sql.raw(String(maxListed))})`,
)

type Listed = { at: number; names: Promise<Set<string>> }

const listedByDatabase = new WeakMap<Database, Listed>()

// Credentials that another process has issued since the list was read are unknown to it for as long.
const listedMs = 1_000

function namesOf(db: Database): Promise<Set<string>> {
  const listed = listedByDatabase.get(db)
  if (listed && performance.now() - listed.at < listedMs) return listed.names
  const names = listGood(db, {}).then((rows) => new Set(rows.map(({ name }) => name)))
  listedByDatabase.set(db, { at: performance.now(), names })
  names.catch(() => listedByDatabase.delete(db))
  return names
}

/** Has `mayBeValid` read its list anew: to be called once credentials were issued. */
export const invalidateListed = (db: Database): void => void listedByDatabase.delete(db)

/** Whether credentials are worth looking up, for a sender who has failed too often: whether there are such keys and
 *  secrets, that nobody has revoked. Costs one statement a second, however many ask; nobody is let in by it. */
export async function mayBeValid(
  db: Database,
  { apiKey, integrationId, secret }: Credentials,
): Promise<boolean> {
  const names = await namesOf(db)
  if (apiKey !== undefined && !names.has(hashSecret(apiKey))) return false
  if (integrationId === undefined && secret === undefined) return apiKey !== undefined
  return names.has(nameOf(integrationId ?? '', hashSecret(secret ?? '')))
}
