import { sql } from 'drizzle-orm'
import { query } from '../data/query.ts'
import { nowMs } from '../database/clock.ts'
import type { Database } from '../database/database.ts'
import { keys } from './table.ts'

// A key has at most twenty, and only the newest keys are listed.
const maxListed = 20_000

const list = query<{ origin: string }>(
  'publishable_origins',
  () => sql`select distinct unnest(origins) as origin from (
    select ${keys.origins} as origins from ${keys}
    where ${keys.origins} is not null and ${keys.revokedAt} is null
      and (${keys.expiresAt} is null or ${keys.expiresAt} > ${nowMs})
    order by ${keys.createdAt} desc limit ${sql.raw(String(maxListed))}) as live`,
)

/** Origins of pages that this machine serves itself, at any port: `*` stands for none or any. */
export const loopbackOrigins = ['http://localhost:*', 'http://127.0.0.1:*', 'http://[::1]:*']

/** Reports whether a page of this origin is one of those that a key names. */
export const includesOrigin = (named: { has(origin: string): boolean }, origin: string): boolean =>
  named.has(origin) ||
  named.has(origin.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\]))(?::\d{1,5})?$/, '$1:*'))

type OriginList = { at: number; origins: Promise<Set<string>> }

const listByDatabase = new WeakMap<Database, OriginList>()

// Maximum age of the list, and so the delay until a page may use a new key.
const maxListAgeMs = 1_000

/** Reports whether some valid publishable key was issued for this origin. A preflight carries no key, so this is
 *  all that can be asked before the request itself. Costs at most one statement per second. */
export async function isPublishableOrigin(db: Database, origin: string): Promise<boolean> {
  const listed = listByDatabase.get(db)
  if (listed && performance.now() - listed.at < maxListAgeMs)
    return includesOrigin(await listed.origins, origin)
  const origins = list(db, {}).then((rows) => new Set(rows.map(({ origin }) => origin)))
  listByDatabase.set(db, { at: performance.now(), origins })
  origins.catch(() => listByDatabase.delete(db))
  return includesOrigin(await origins, origin)
}
