import type { Database } from '../database/database.ts'
import { groupBy } from '../shared/group-by.ts'
import { coalesceReads } from './coalesce.ts'

/** Organizations of a request that are read at once where each is read by itself, so that connections are left
 *  for others. */
export const maxReadAtOnce = 4

// Separated by a space, which identifiers and tokens cannot contain.
const nameOf = (organizationId: string, key: string) => `${organizationId} ${key}`

/** Coalesces reads of an organization's rows as `coalesceReads` does, with a statement for each organization:
 *  each finds its rows in one place, however many servers the database is spread over. */
export function readByOrganization<Row>(
  read: (db: Database, organizationId: string, keys: string[]) => Promise<Map<string, Row>>,
): (db: Database, organizationId: string, key: string) => Promise<Row | null> {
  const readNamed = coalesceReads<Row>(async (db, names) => {
    const pairs = names.map((name) => name.split(' ') as [organizationId: string, key: string])
    const found = await Promise.all(
      [...groupBy(pairs, ([organizationId]) => organizationId)].map(async ([organizationId, pairs]) => {
        const keys = pairs.map(([, key]) => key)
        const rows = await read(db, organizationId, keys)
        return [...rows].map(([key, row]): [string, Row] => [nameOf(organizationId, key), row])
      }),
    )
    return new Map(found.flat())
  })
  return (db, organizationId, key) => readNamed(db, nameOf(organizationId, key))
}
