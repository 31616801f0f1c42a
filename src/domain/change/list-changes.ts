import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { channelOrganizations } from '../../auth/table.ts'
import { coalesceReads } from '../../data/coalesce.ts'
import { inMode } from '../../data/idempotency.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { type Find, findTogether } from '../../data/prepared.ts'
import { type Context, requireConfidential } from '../../request/context.ts'
import { assignPositions } from './assign-positions.ts'
import { type ReadPositions, readCursor, toCursor, verifyCursor } from './cursor.ts'
import { type Change, changes } from './table.ts'

const parameter = sql.placeholder

// A feed consists of parts, each ordered by one organization's positions. A channel has two parts per
// organization that ever granted it: its own changes, and, while granted, changes for every channel. They are
// separate so that the second does not advance while the grant is revoked. An integration has one part, with
// all changes of its organization.
const parts = sql`(
  select ${channelOrganizations.number}::bigint * 2 + kind as part, ${channelOrganizations.organizationId} as organization_id,
    case kind when 0 then ${channelOrganizations.channelId} else '' end as audience,
    kind = 0 or ${channelOrganizations.organizationId} = any(${parameter('organizationIds')}::text[]) as is_open
  from ${channelOrganizations} cross join (values (0), (1)) as kinds(kind)
  where ${channelOrganizations.channelId} = ${parameter('channelId')}
  union all select 0, id, null, true from unnest(${parameter('ownOrganizationIds')}::text[]) as own(id)
) as parts`

const cursorPositions = sql`jsonb_to_recordset(${parameter('positions')}::text::jsonb) as heard(part bigint, position bigint)`

// The index that orders a feed begins with the organization and the mode, here that of the caller.
const isOfMode = sql`mode = ${parameter('mode')}::text::key_mode`

// Changes after the cursor. Each part is an index scan that stops at the limit.
const changesAfter = (from: SQL, limit: SQL) => {
  const next = (isOfPart: SQL) => sql`
    select found.*, parts.part from ${from} left join ${cursorPositions} on heard.part = parts.part cross join lateral (
      select * from ${changes} where organization_id = parts.organization_id and ${isOfMode} and ${isOfPart}
        and feed_position > coalesce(heard.position, 0)
      order by feed_position limit ${limit}
    ) as found where parts.is_open`
  return sql`(
    ${next(sql`parts.audience is not null and coalesce(channel_id, '') = parts.audience`)}
    union all ${next(sql`parts.audience is null`)}
  ) as found`
}

// Merges organizations by time while keeping each one's order: `reached` is the latest time among a change
// and those before it in the same organization. A page of n changes can only contain the n organizations
// whose next change is earliest, so the others are not read.
const limit = sql`${parameter('limit')}::integer`
const merged = sql`(
  with early as materialized (
    select organization_id from ${changesAfter(parts, sql`1`)} group by organization_id
    order by (array_agg(created_at order by feed_position))[1], organization_id limit ${limit}
  )
  select *, max(created_at) over (partition by organization_id order by feed_position) as reached
  from ${changesAfter(sql`early join ${parts} on parts.organization_id = early.organization_id`, limit)}
) as changes`

type CursorChange = { part: number; position: number; id: string | null }

// Changes at the positions of the cursor, to verify it with.
const cursorChanges: Find<CursorChange> = {
  rows: rowsOf({ part: sql<number>`part`, position: sql<number>`position`, id: sql<string | null>`id` }),
  query: (select) =>
    select.from(sql`(select heard.part, heard.position, ${changes}.id from ${cursorPositions} left join ${parts} on parts.part = heard.part
      left join ${changes} on ${changes}.organization_id = parts.organization_id and ${changes}.${isOfMode}
        and ${changes}.feed_position = heard.position) as told`),
}

const nextChanges: Find<Change & { part: number }> = {
  rows: rowsOf({ ...getTableColumns(changes), part: sql<number>`part` }),
  query: (select) =>
    select.from(merged).orderBy(sql`reached, organization_id, feed_position`).limit(parameter('limit')),
}

// Organizations with committed changes for the caller that have no position yet.
const withoutPosition: Find<{ organizationId: string }> = {
  rows: rowsOf({ organizationId: sql<string>`organization_id` }),
  query: (select) =>
    select.from(sql`(select distinct organization_id from ${parts} where is_open and exists (
      select from ${changes} where organization_id = parts.organization_id and feed_position is null and ${isOfMode}
        and (parts.audience is null or coalesce(channel_id, '') = parts.audience))) as waiting`),
}

// Coalesces concurrent requests into one assignment. A failure must not block reading changes that have a
// position; the background job logs it.
const assignCoalesced = coalesceReads<never>(async (db, organizationIds) => {
  await assignPositions(db, organizationIds).catch(() => {})
  return new Map<string, never>()
})

/** A change in a feed, and the cursor after it. */
export type FeedChange = Change & { cursor(): string }

/** Returns up to `limit` changes of the caller's feed after a cursor, oldest first. A channel's feed has its
 *  payments and tickets and the rates of organizations that granted it; an integration's has all changes of
 *  its organization. The part before a cursor never changes, so a client can resume from it (DECISIONS 7,
 *  11). Changes of one organization keep its order; those of several are merged by time.
 *  Refuses: CURSOR_UNKNOWN, for a cursor of another caller or database. */
export async function listChanges(after: string | null, limit: number, ctx: Context): Promise<FeedChange[]> {
  const caller = requireConfidential(ctx)
  const isChannel = caller.kind === 'channel'
  const owner = isChannel ? caller.channelId : caller.organizationIds[0]
  // A cursor of the other mode is one of another feed.
  const feed = inMode(ctx, owner)
  const cursor = after === null ? null : readCursor(after)
  const values = {
    limit,
    channelId: isChannel ? caller.channelId : '',
    organizationIds: isChannel ? caller.organizationIds : [],
    ownOrganizationIds: isChannel ? [] : caller.organizationIds,
    mode: ctx.mode,
    positions: JSON.stringify(cursor?.positions ?? []),
  }

  const read = async () => {
    const [last, found, unpositioned] = await findTogether<
      [CursorChange, Change & { part: number }, { organizationId: string }]
    >(ctx.db, 'changes', [cursorChanges, nextChanges, withoutPosition], values)
    const before: ReadPositions = cursor ? verifyCursor(cursor, feed, last) : new Map()
    return { before, found, unpositioned }
  }

  let page = await read()
  if (page.found.length < limit && page.unpositioned.length > 0) {
    await Promise.all(page.unpositioned.map(({ organizationId }) => assignCoalesced(ctx.db, organizationId)))
    page = await read()
  }
  const cursorAt = (index: number) => {
    const read = new Map(page.before)
    for (const { part, feedPosition, id } of page.found.slice(0, index + 1))
      read.set(part, { id, position: feedPosition ?? 0 })
    return toCursor(feed, read)
  }
  return page.found.map((change, index) => ({ ...change, cursor: () => cursorAt(index) }))
}
