import { sql } from 'drizzle-orm'
import { preparedSql, textParamAtStart } from '../../data/prepared.ts'
import type { Database } from '../../database/database.ts'
import { clockMarginMs, idsFrom } from '../../shared/ids.ts'
import { changeFeeds, changes } from './table.ts'

const parameter = sql.placeholder

// Maximum number of changes per statement.
const maxAtOnce = 5_000

const completeEveryMs = 10 * 60_000

/** Begin of the ids of changes that may be without a position, unless nobody assigned any for a day. */
export const recentChanges = (): string => idsFrom('chg', Date.now() - clockMarginMs)
const allChanges = idsFrom('chg', 0)

/** Condition that a change has an id from the parameter `since` on: partitions of earlier months are left out. */
export const isSince = sql`${changes.id} >= ${textParamAtStart('since')}`

const withoutPosition = preparedSql<{ organization_id: string }>(
  'organizations_without_positions',
  () => sql`select distinct organization_id from ${changes} where feed_position is null and ${isSince}`,
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
// to `placed` alone it would read the whole table to hash it: hence the keys as an array, and their range, outside of
// which no partition is read.
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
    where organization_id = ${parameter('organizationId')} and feed_position is null and ${isSince}
      and exists (select from feed)
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
      and ${changes.id} = any((select array_agg(id) from placed)::text[])
      and ${changes.id} between (select min(id) from placed) and (select max(id) from placed)
      and coalesce(${changes.feedPosition}, 0) = 0
    returning feed_position
  ),
  moved as (
    update ${changeFeeds} set last_position = greatest(last_position, (select max(feed_position) from assigned))
    where organization_id = ${parameter('organizationId')} and exists (select from assigned)
  )
  select (select count(*) from assigned)::integer as assigned, exists (select from made) as made`,
)

type Options = {
  /** Those of all organizations that have changes without a position, if omitted. */
  organizationIds?: string[]
  /** Id from which on changes are looked at, before which none may be without a position: all if omitted. */
  since?: string
}

/** Assigns feed positions to committed changes. A long transaction delays only its own changes, and the changes
 *  of one subject keep their sequence. Safe to run in several processes at once: for each feed, one of them does
 *  the work. */
export async function assignPositions(db: Database, options: Options = {}): Promise<void> {
  const { organizationIds, since = allChanges } = options
  const ids =
    organizationIds ?? (await withoutPosition(db, { since })).map(({ organization_id }) => organization_id)
  for (const organizationId of ids)
    for (let hasMore = true; hasMore; ) {
      const [outcome] = await assign(db, { organizationId, since })
      // A new feed is invisible to the statement that inserted it, so it takes another one.
      hasMore = outcome !== undefined && (outcome.made || outcome.assigned === maxAtOnce)
    }
}

/** Creates the job that assigns positions. It looks at recent changes, which are in one month or two. The first run
 *  looks at all, as nobody may have worked for long, and so does one every ten minutes. */
export function createPositions(db: Database): () => Promise<void> {
  let completeAt = performance.now()
  return async () => {
    const isComplete = performance.now() >= completeAt
    await assignPositions(db, isComplete ? {} : { since: recentChanges() })
    if (isComplete) completeAt = performance.now() + completeEveryMs
  }
}
