import { sql } from 'drizzle-orm'
import { query } from '../../data/query.ts'
import type { Database } from '../../database/database.ts'
import { changeFeeds, changes } from './table.ts'

const parameter = sql.placeholder

// Maximum number of changes per statement.
const maxAtOnce = 5_000

const withoutPosition = query<{ organization_id: string }>(
  'organizations_without_positions',
  () => sql`select distinct organization_id from ${changes} where feed_position is null`,
)

// The row lock on the feed lasts to the commit, so only one process at a time assigns positions in a feed;
// others skip a locked one. The snapshot of this statement may be older than the other's commit and contain
// changes that have a position by now: the update rechecks each row and skips those, which leaves gaps in the
// numbers.
//
// Changes of one subject keep their order: the batch takes the first ones of each subject (`order by
// sequence`), and the sort keys within the batch never decrease along a subject.
//
// The update must find each row by its key. Statistics say that hardly any row lacks a position, so the
// planner would scan that partial index once per row: hence `coalesce`, a condition that no index supports. Joined
// to `numbered` alone it would read the whole table to hash it: hence the keys as an array.
const assign = query<{ assigned: number; made: boolean }>(
  'assign_positions',
  () => sql`
  with made as (
    insert into ${changeFeeds} (organization_id) select id from (select ${parameter('organizationId')}::text as id) as asked
    where not exists (select from ${changeFeeds} where organization_id = ${parameter('organizationId')})
    on conflict do nothing returning organization_id
  ),
  feed as materialized (
    select last_position from ${changeFeeds}
    where organization_id = ${parameter('organizationId')} for update skip locked
  ),
  taken as materialized (
    select id, subject_id, sequence, created_at from ${changes}
    where organization_id = ${parameter('organizationId')} and feed_position is null
      and exists (select from feed)
    order by sequence limit ${sql.raw(String(maxAtOnce))}
  ),
  numbered as materialized (
    select id, row_number() over (order by begun, latest, sequence) as place from (
      select id, sequence, max(created_at) over subject as begun, max(id) over subject as latest
      from taken window subject as (partition by subject_id order by sequence)
    ) as taken
  ),
  assigned as (
    update ${changes} set feed_position = feed.last_position + numbered.place
    from feed cross join numbered
    where ${changes.organizationId} = ${parameter('organizationId')} and ${changes.id} = numbered.id
      and ${changes.id} = any((select array_agg(id) from numbered)::text[])
      and coalesce(${changes.feedPosition}, 0) = 0
    returning feed_position
  ),
  moved as (
    update ${changeFeeds} set last_position = greatest(last_position, (select max(feed_position) from assigned))
    where organization_id = ${parameter('organizationId')} and exists (select from assigned)
  )
  select (select count(*) from assigned)::integer as assigned, exists (select from made) as made`,
)

/** Assigns feed positions to committed changes of organizations, or of all that have changes without one. A long
 *  transaction delays only its own changes, and the changes of one subject keep their sequence. Safe to run in
 *  several processes at once: for each feed, one of them does the work. */
export async function assignPositions(db: Database, organizationIds?: string[]): Promise<void> {
  const ids = organizationIds ?? (await withoutPosition(db, {})).map(({ organization_id }) => organization_id)
  for (const organizationId of ids)
    for (let hasMore = true; hasMore; ) {
      const [outcome] = await assign(db, { organizationId })
      // A new feed is invisible to the statement that inserted it, so it takes another one.
      hasMore = outcome !== undefined && (outcome.made || outcome.assigned === maxAtOnce)
    }
}
