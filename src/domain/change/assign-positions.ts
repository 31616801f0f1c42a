import { sql } from 'drizzle-orm'
import { preparedSql } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { changeFeeds, changes } from './table.ts'

const parameter = sql.placeholder

// Changes in one statement.
const maxAtOnce = 5_000

const withoutPosition = preparedSql<{ organization_id: string }>(
  'organizations_without_positions',
  () => sql`select distinct organization_id from ${changes} where feed_position is null`,
)

// The lock on the feed's row lasts to the commit, so one process at a time gives positions of a feed. A process that finds
// it locked leaves the work to the other. The statement may have begun before the other committed, and then takes changes
// that have a position by now: the update looks at each anew and leaves those alone, so that numbers may have gaps.
//
// A change of a subject never comes before an earlier one of the same: the part that is taken holds the first of each
// subject (order by sequence), and the order within it never goes down along a subject.
//
// The update finds each row by its key. Statistics say that hardly anything has no position, and by that index the
// planner would go through all of it once for each row: hence a condition on the position that no index has.
const assign = preparedSql<{ assigned: number; made: boolean }>(
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
    where organization_id = ${parameter('organizationId')} and feed_position is null and exists (select from feed)
    order by sequence limit ${sql.raw(String(maxAtOnce))}
  ),
  placed as materialized (
    select id, row_number() over (order by begun, latest, sequence) as place from (
      select id, sequence, max(created_at) over subject as begun, max(id) over subject as latest
      from taken window subject as (partition by subject_id order by sequence)
    ) as taken
  ),
  assigned as (
    update ${changes} set feed_position = feed.last_position + placed.place
    from feed cross join placed
    where ${changes.organizationId} = ${parameter('organizationId')} and ${changes.id} = placed.id
      and coalesce(${changes.feedPosition}, 0) = 0
    returning feed_position
  ),
  moved as (
    update ${changeFeeds} set last_position = greatest(last_position, (select max(feed_position) from assigned))
    where organization_id = ${parameter('organizationId')} and exists (select from assigned)
  )
  select (select count(*) from assigned)::integer as assigned, exists (select from made) as made`,
)

/** Gives the changes of an organization that are committed their positions in its feed, unless another process is about
 *  it. */
async function assignIn(db: Database, organizationId: string): Promise<void> {
  for (let goesOn = true; goesOn; ) {
    const [outcome] = await assign(db, { organizationId })
    // A feed that was only just made is not seen by the statement that made it.
    goesOn = outcome !== undefined && (outcome.made || outcome.assigned === maxAtOnce)
  }
}

/** Gives changes their positions in their organizations' feeds: of these organizations, or of all that have changes
 *  without one. A change has one once it is committed, however long a transaction that began before it may take, and the
 *  changes of a subject have them in their sequence. Several processes may do this at once: one of them does it. */
export async function assignPositions(db: Database, organizationIds?: string[]): Promise<void> {
  const ids = organizationIds ?? (await withoutPosition(db, {})).map(({ organization_id }) => organization_id)
  for (const id of ids) await assignIn(db, id)
}
