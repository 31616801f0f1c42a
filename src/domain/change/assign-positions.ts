import { sql } from 'drizzle-orm'
import { arrayRows } from '../../engine/data/array-params.ts'
import { findEverywhere } from '../../engine/data/by-organization.ts'
import { anyOf, inOrganization, ofOrganization, query } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { transaction } from '../../engine/database/transaction.ts'
import { changeFeeds, changes } from './table.ts'

// Maximum number of changes per transaction.
const maxAtOnce = 5_000

const findWithoutPositions = (db: Database) =>
  findEverywhere<{ id: string }>(
    db,
    changes.organizationId,
    (isAsked) =>
      sql`select distinct organization_id as id from ${changes} where ${isAsked} and feed_position is null`,
  )

// The lock lasts to the commit, so only one process at a time assigns positions in a feed; others skip a locked one.
const lockFeed = query<{ last: number }>(
  'lock_feed',
  () => sql`
  select ${changeFeeds.lastPosition}::float8 as last from ${changeFeeds}
  where ${ofOrganization(changeFeeds.organizationId)} for update skip locked`,
)

const openFeed = query<{ opened: boolean }>(
  'open_feed',
  () => sql`
  insert into ${changeFeeds} (organization_id) values (${sql.placeholder('organizationId')}::text)
  on conflict do nothing returning true as opened`,
)

// Changes of one subject keep their order: the batch takes the first ones of each subject (`order by
// sequence`), and the sort keys within the batch never decrease along a subject.
const take = query<{ id: string }>(
  'changes_without_positions',
  () => sql`
  select id from (
    select id, sequence, max(created_at) over subject as begun, max(id) over subject as latest
    from (
      select id, subject_id, sequence, created_at from ${changes}
      where ${ofOrganization(changes.organizationId)} and ${changes.feedPosition} is null
      order by ${changes.sequence} limit ${sql.raw(String(maxAtOnce))}
    ) as taken window subject as (partition by subject_id order by sequence)
  ) as ordered order by begun, latest, sequence`,
)

const taken = arrayRows('taken', { id: 'text' })

// The update must find each row by its key: joined to the array alone it would read the whole table to hash it.
const place = query(
  'assign_positions',
  () => sql`
  update ${changes} set feed_position = ${sql.placeholder('last')}::bigint + place from ${taken.ordered('place')}
  where ${inOrganization(changes.organizationId)} and ${changes.id} = ${taken.cells.id} and ${anyOf(changes.id, 'taken_id')}`,
)

const moveFeed = query(
  'move_feed',
  () => sql`
  update ${changeFeeds} set last_position = ${sql.placeholder('last')}::bigint + ${sql.placeholder('count')}::integer
  where ${ofOrganization(changeFeeds.organizationId)}`,
)

// Returns true if there may be more.
const assign = (db: Database, organizationId: string): Promise<boolean> =>
  transaction(db, async (tx) => {
    const [feed] = await lockFeed(tx, { organizationId })
    if (!feed) return (await openFeed(tx, { organizationId })).length > 0
    const rows = await take(tx, { organizationId })
    if (rows.length === 0) return false
    await place(tx, { organizationId, last: feed.last, ...taken.values(rows) })
    await moveFeed(tx, { organizationId, last: feed.last, count: rows.length })
    return rows.length === maxAtOnce
  })

/** Assigns feed positions to committed changes of organizations, or of all that have changes without one. A long
 *  transaction delays only its own changes, and the changes of one subject keep their sequence. Safe to run in
 *  several processes at once: for each feed, one of them does the work. */
export async function assignPositions(db: Database, organizationIds?: string[]): Promise<void> {
  const ids = organizationIds ?? (await findWithoutPositions(db)).map(({ id }) => id)
  for (const organizationId of ids) {
    let hasMore = true
    while (hasMore) hasMore = await assign(db, organizationId)
  }
}
