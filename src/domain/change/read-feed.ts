import { getTableColumns, placeholder as parameter, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Reach } from '../../engine/base/caller.ts'
import { readMerged } from '../../engine/data/by-organization.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import {
  distinctValues,
  type Find,
  type Found,
  inOrganizationIfNamed,
  queryTogether,
  textArrayParam,
} from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { isOfNextReached, reachedOrganizations } from '../caller/change-grant.ts'
import { channelOrganizations } from '../caller/table.ts'
import { type Change, changeFeeds, changes, droppedChanges, feedPart } from './table.ts'

// A feed consists of parts, each ordered by one organization's positions. A channel has two parts per
// organization that ever granted it: its own changes, and, while granted, changes for every channel. They are
// separate so that the second does not advance while the grant is revoked. An integration has one part, with
// all changes of its organization.
const partsOf = (organizations: SQL) => sql`(
  select number::bigint * 2 + kind as part, organization_id, case kind when 0 then channel_id else '' end as audience,
    kind = 0 or organization_id = any(${parameter('organizationIds')}::text[]) as is_open
  from ${organizations} as reached cross join (values (0), (1)) as kinds(kind)
) as parts`
const isReached = sql`${channelOrganizations.channelId} = ${parameter('channelId')} and ${inOrganizationIfNamed(channelOrganizations.organizationId)}`
const partsOfChannel = partsOf(sql`(select * from ${channelOrganizations} where ${isReached})`)
const allReached = sql`(select organization_id as found from ${channelOrganizations} where ${isReached})`
// Parts of organizations that have rows under a condition: of a channel with thousands, most have none.
const partsWith = (column: PgColumn, condition: SQL) =>
  partsOf(sql`(
    select one.* from ${distinctValues(column, condition, allReached, isOfNextReached(column))} as walked cross join lateral (
      select * from ${channelOrganizations} where ${isReached} and ${channelOrganizations.organizationId} = walked.found limit 1
    ) as one)`)
const partOfIntegration = sql`(
  select 0::bigint as part, id as organization_id, null::text as audience, true as is_open
  from unnest(${textArrayParam('ownOrganizationIds')}) as own(id)
) as parts`

// As JSON, of which the planner expects a hundred rows: of arrays it expects ten, and plans the feed otherwise.
const cursorPositions = sql`jsonb_to_recordset(${parameter('positions')}::text::jsonb) as given(part bigint, position bigint)`

// Mode of the caller: the index that orders a feed begins with the organization and the mode.
const isOfMode = sql`mode = ${parameter('mode')}::text::key_mode`

/** Feed that a statement reads: its parts, those that may have changes without a position, the condition for changes of a
 *  part, which an index supports, and whether it `merges` many organizations. A statement for each costs less than one for
 *  all. */
type Feed = { parts: SQL; waiting: SQL; isOfPart: SQL; isForPart: SQL; merges?: boolean }
const audience = sql`coalesce(${changes.channelId}, '')`
const isOfOrganization = sql`${changes.organizationId} = parts.organization_id`
const ofChannel: Feed = {
  parts: partsOfChannel,
  waiting: partsOfChannel,
  isOfPart: sql`${feedPart(changes.organizationId, audience)} = ${feedPart(sql`parts.organization_id`, sql`parts.audience`)}`,
  isForPart: sql`${isOfOrganization} and ${audience} = parts.audience`,
}
const ofLargeChannel: Feed = {
  ...ofChannel,
  parts: partsWith(changeFeeds.organizationId, sql`true`),
  waiting: partsWith(changes.organizationId, sql`${changes.feedPosition} is null`),
  merges: true,
}
const ofIntegration: Feed = {
  parts: partOfIntegration,
  waiting: partOfIntegration,
  isOfPart: isOfOrganization,
  isForPart: isOfOrganization,
}

/** Maximum number of changes that are read at a time. */
export const maxChanges = 1_000
// Number of organizations up to which the next changes of each are read.
const maxFew = 8

// Changes after the cursor. Each part is an index scan that stops at the limit. The planner is shown the maximum:
// without a limit it would expect a tenth of all changes, and with the limit of each call it would plan every time.
const changesAfter = (from: SQL, limit: SQL, feed: Feed) => sql`(
  select found.*, parts.part from ${from} left join ${cursorPositions} on given.part = parts.part cross join lateral (
    select * from (
      select * from ${changes} where ${inOrganizationIfNamed(changes.organizationId)}
        and ${isOfMode} and ${feed.isOfPart} and feed_position > coalesce(given.position, 0)
      order by feed_position limit ${sql.raw(String(maxChanges))}
    ) as next order by feed_position limit ${limit}
  ) as found where parts.is_open
) as found`

// Merges organizations by time while keeping each one's order: `reached` is the latest time among a change
// and those before it in the same organization. A page of n changes can only contain the n organizations
// whose next change is earliest, so the others are not read.
const limit = sql`(select ${parameter('limit')}::integer)`
const early = (feed: Feed) => sql`with early as materialized (
    select organization_id from ${changesAfter(feed.parts, sql`1`, feed)} group by organization_id
    order by (array_agg(created_at order by feed_position))[1], organization_id limit ${limit}
  )`
const mergedOf = (feed: Feed) => {
  const parts = feed.merges
    ? sql`early join ${feed.parts} on parts.organization_id = early.organization_id`
    : feed.parts
  return sql`(${feed.merges ? early(feed) : sql``}
  select *, max(created_at) over (partition by organization_id order by feed_position) as reached
  from ${changesAfter(parts, limit, feed)}
) as changes`
}

/** A change, its part, and the latest time among it and those before it in its organization. */
type NextChange = Change & { part: number; reached: number }
type CursorChange = { part: number; position: number; id: string | null }
const cursorRows = rowsOf({
  part: sql<number>`part`,
  position: sql<number>`position`,
  id: sql<string | null>`id`,
})

// Changes at the positions of the cursor, to verify it with. A change that was deleted by age is still known if it was the last
// one deleted of its part. If later ones were deleted too, the cursor is unknown, because nobody can read those any more.
const cursorChanges = (feed: Feed): Find<CursorChange> => ({
  rows: cursorRows,
  query: (select) =>
    select.from(sql`(
      select given.part, given.position, case when dropped.feed_position > given.position then null
        when dropped.feed_position = given.position then dropped.id else kept.id end as id
      from ${cursorPositions} left join ${feed.parts} on parts.part = given.part
      left join lateral (
        select id from ${changes} where organization_id = parts.organization_id
          and ${inOrganizationIfNamed(changes.organizationId)} and ${isOfMode} and feed_position = given.position limit 1
      ) as kept on true
      left join lateral (
        select id, feed_position from ${droppedChanges} where organization_id = parts.organization_id
          and ${inOrganizationIfNamed(droppedChanges.organizationId)} and ${isOfMode} and (parts.audience is null or audience = parts.audience)
        order by feed_position desc limit 1
      ) as dropped on true) as verified`),
})

const nextChanges = (feed: Feed): Find<NextChange> => ({
  rows: rowsOf({
    ...getTableColumns(changes),
    part: sql<number>`part`,
    reached: sql<number>`(extract(epoch from reached) * 1000)::float8`,
  }),
  query: (select) =>
    select
      .from(mergedOf(feed))
      .orderBy(sql`reached, organization_id, feed_position`)
      // Drizzle's types know numbers and placeholders alone, but any SQL is rendered.
      .limit(limit as never),
})

// The newest change of each part.
const lastChanges = (feed: Feed): Find<CursorChange> => ({
  rows: cursorRows,
  query: (select) =>
    select.from(sql`(
      select parts.part, last.feed_position as position, last.id from ${feed.parts} cross join lateral (
        select id, feed_position from ${changes} where ${inOrganizationIfNamed(changes.organizationId)}
          and ${isOfMode} and ${feed.isOfPart} and feed_position is not null
        order by feed_position desc limit 1
      ) as last where parts.is_open) as newest`),
})

// Organizations with committed changes for the caller that have no position yet.
const withoutPosition = (feed: Feed): Find<{ organizationId: string }> => ({
  rows: rowsOf({ organizationId: sql<string>`organization_id` }),
  query: (select) =>
    select.from(sql`(select distinct organization_id from ${feed.waiting} where is_open and exists (
      select from ${changes} where ${inOrganizationIfNamed(changes.organizationId)}
        and feed_position is null and ${isOfMode} and ${feed.isForPart})) as waiting`),
})

type Read = [CursorChange, NextChange, { organizationId: string }]
type Head = [CursorChange, { organizationId: string }]
const statementsOf = (name: string, feed: Feed) => ({
  find: queryTogether<Read>(`changes_of_${name}`, [
    cursorChanges(feed),
    nextChanges(feed),
    withoutPosition(feed),
  ]),
  findHead: queryTogether<Head>(`head_of_${name}`, [lastChanges(feed), withoutPosition(feed)]),
})
const channel = statementsOf('channel', ofChannel)
const largeChannel = statementsOf('large_channel', ofLargeChannel)
const integration = statementsOf('integration', ofIntegration)

type Values = Reach & { limit: number; positions: string }
const isIntegration = ({ ownOrganizationIds }: Reach) => ownOrganizationIds.length > 0

const isBefore = (one: NextChange, other: NextChange) =>
  one.reached - other.reached ||
  (one.organizationId < other.organizationId ? -1 : Number(one.organizationId > other.organizationId)) ||
  Number(one.feedPosition) - Number(other.feedPosition)

const merge = (read: Found<Read>[], limit: number): Found<Read> => [
  // Each finds those of its own parts, and null for the others.
  read.flatMap(([last]) => last.filter(({ id }) => id !== null)),
  read
    .flatMap(([, next]) => next)
    .sort(isBefore)
    .slice(0, limit),
  read.flatMap(([, , waiting]) => waiting),
]

// On a distributed database, each organization is asked by itself.
function statementsFor(reach: Reach, organizationId: string | undefined) {
  if (isIntegration(reach)) return integration
  return reach.organizationIds.length > maxFew && organizationId === undefined ? largeChannel : channel
}

/** Reads the changes at the positions of a cursor, the next ones after it, and the organizations that have
 *  changes without a position. */
export const readFeed = (db: Database, values: Values): Promise<Found<Read>> =>
  readMerged(
    db,
    () => reachedOrganizations(db, values),
    (organizationId) => statementsFor(values, organizationId).find(db, { ...values, organizationId }),
    (read) => merge(read, values.limit),
  )

/** Reads the newest change of each part of a feed, and the organizations that have changes without a position. */
export const readHead = (db: Database, reach: Reach): Promise<Found<Head>> =>
  readMerged(
    db,
    () => reachedOrganizations(db, reach),
    (organizationId) => statementsFor(reach, organizationId).findHead(db, { ...reach, organizationId }),
    (read) => [read.flatMap(([last]) => last), read.flatMap(([, waiting]) => waiting)],
  )
