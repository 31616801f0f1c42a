import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { channelOrganizations } from '../../auth/table.ts'
import { coalesceReads } from '../../data/coalesce.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { type Find, findTogether } from '../../data/prepared.ts'
import { type Context, requireCaller } from '../../request/context.ts'
import { assignPositions } from './assign-positions.ts'
import { type Heard, readCursor, toCursor, verifyCursor } from './cursor.ts'
import { type Change, changes } from './table.ts'

const parameter = sql.placeholder

// A feed is made of parts, each in the order of an organization's positions. A channel hears of each organization that
// ever granted it what is its own, and of those that grant it now what is for every channel: two parts, because a grant
// that is gone for a while must not move on what it lets through. An integration has one part, all of its organization.
const parts = sql`(
  select ${channelOrganizations.number}::bigint * 2 + kind as part, ${channelOrganizations.organizationId} as organization_id,
    case kind when 0 then ${channelOrganizations.channelId} else '' end as audience,
    kind = 0 or ${channelOrganizations.organizationId} = any(${parameter('organizationIds')}::text[]) as is_open
  from ${channelOrganizations} cross join (values (0), (1)) as kinds(kind)
  where ${channelOrganizations.channelId} = ${parameter('channelId')}
  union all select 0, id, null, true from unnest(${parameter('ownOrganizationIds')}::text[]) as own(id)
) as parts`

const heard = sql`jsonb_to_recordset(${parameter('positions')}::text::jsonb) as heard(part bigint, position bigint)`

// Each part is read in the order of an index, no further than the limit.
const behind = (from: SQL, limit: SQL) => {
  const next = (of: SQL) => sql`
    select found.*, parts.part from ${from} left join ${heard} on heard.part = parts.part cross join lateral (
      select * from ${changes} where organization_id = parts.organization_id and ${of}
        and feed_position > coalesce(heard.position, 0)
      order by feed_position limit ${limit}
    ) as found where parts.is_open`
  return sql`(
    ${next(sql`parts.audience is not null and coalesce(channel_id, '') = parts.audience`)}
    union all ${next(sql`parts.audience is null`)}
  ) as found`
}

// Several organizations are told by time, as far as each one's own order lets them: what comes after a later change of
// the same organization is taken to be as late. So no more of them than the page has places can come to be on it: those
// whose next change is the earliest. Of many the others are not read.
const limit = sql`${parameter('limit')}::integer`
const merged = sql`(
  with early as materialized (
    select organization_id from ${behind(parts, sql`1`)} group by organization_id
    order by (array_agg(created_at order by feed_position))[1], organization_id limit ${limit}
  )
  select *, max(created_at) over (partition by organization_id order by feed_position) as reached
  from ${behind(sql`early join ${parts} on parts.organization_id = early.organization_id`, limit)}
) as changes`

type Told = { part: number; position: number; id: string | null }

// The changes that the cursor leads to.
const lastTold: Find<Told> = {
  rows: rowsOf({ part: sql<number>`part`, position: sql<number>`position`, id: sql<string | null>`id` }),
  query: (select) =>
    select.from(sql`(select heard.part, heard.position, ${changes}.id from ${heard} left join ${parts} on parts.part = heard.part
      left join ${changes} on ${changes}.organization_id = parts.organization_id
        and ${changes}.feed_position = heard.position) as told`),
}

const nextChanges: Find<Change & { part: number }> = {
  rows: rowsOf({ ...getTableColumns(changes), part: sql<number>`part` }),
  query: (select) =>
    select.from(merged).orderBy(sql`reached, organization_id, feed_position`).limit(parameter('limit')),
}

// Organizations that have something for the caller which is committed and has no position yet.
const withoutPosition: Find<{ organizationId: string }> = {
  rows: rowsOf({ organizationId: sql<string>`organization_id` }),
  query: (select) =>
    select.from(sql`(select distinct organization_id from ${parts} where is_open and exists (
      select from ${changes} where organization_id = parts.organization_id and feed_position is null
        and (parts.audience is null or coalesce(channel_id, '') = parts.audience))) as waiting`),
}

// Many who ask at the same time have them assigned once. A failure keeps nobody from
// changes that have a position; the background task logs it.
const assignByTurn = coalesceReads<never>(async (db, organizationIds) => {
  await assignPositions(db, organizationIds).catch(() => {})
  return new Map<string, never>()
})

/** A change as a feed tells it, and the cursor behind it. */
export type FeedChange = Change & { cursor(): string }

/** Returns changes of the caller's after a cursor, oldest first, up to `limit`: of a channel, its payments and tickets
 *  and the rates of organizations that granted it; of an integration, all of its organization's. Nothing that was told
 *  changes, and nothing comes to be before it, so that a client goes on where it was (DECISIONS 7, 11). Each
 *  organization's changes are told in its own order, several organizations' by time.
 *  Refuses: CURSOR_UNKNOWN, for a cursor that is not of this caller's feed in this database. */
export async function listChanges(after: string | null, limit: number, ctx: Context): Promise<FeedChange[]> {
  const caller = requireCaller(ctx)
  const isChannel = caller.kind === 'channel'
  const feed = isChannel ? caller.channelId : caller.organizationIds[0]
  const cursor = after === null ? null : readCursor(after)
  const values = {
    limit,
    channelId: isChannel ? caller.channelId : '',
    organizationIds: isChannel ? caller.organizationIds : [],
    ownOrganizationIds: isChannel ? [] : caller.organizationIds,
    positions: JSON.stringify(cursor?.positions ?? []),
  }

  const read = async () => {
    const [told, found, waiting] = await findTogether<
      [Told, Change & { part: number }, { organizationId: string }]
    >(ctx.db, 'changes', [lastTold, nextChanges, withoutPosition], values)
    const before: Heard = cursor ? verifyCursor(cursor, feed, told) : new Map()
    return { before, found, waiting }
  }

  let page = await read()
  if (page.found.length < limit && page.waiting.length > 0) {
    await Promise.all(page.waiting.map(({ organizationId }) => assignByTurn(ctx.db, organizationId)))
    page = await read()
  }
  const { before, found } = page
  return found.map((change, index) => ({
    ...change,
    cursor: () =>
      toCursor(
        feed,
        new Map([
          ...before,
          ...found
            .slice(0, index + 1)
            .map(({ part, feedPosition, id }) => [part, { id, position: feedPosition ?? 0 }] as const),
        ]),
      ),
  }))
}
