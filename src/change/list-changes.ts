import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { type Find, rowStatement } from '../batch.ts'
import { type Context, requireCaller } from '../context.ts'
import { rowsOf } from '../rows.ts'
import type { Place } from './cursor.ts'
import { type Change, changes } from './table.ts'

const parameter = sql.placeholder

// Positions are given out before a transaction ends, so a lower one may come to be seen after a higher one. Only what
// was written by transactions older than all that still run is told: nothing can come to be before it any more.
const next = (of: SQL) => sql`(
  select * from ${changes} where ${of}
    and (transaction_id, position) > (${parameter('transactionId')}::text::xid8, ${parameter('position')}::bigint)
    and transaction_id < pg_snapshot_xmin(pg_current_snapshot())
  order by transaction_id, position limit ${parameter('limit')}::integer)`

const ofEach = (organizationIds: string, more: SQL) => sql`
  select found.* from unnest(${parameter(organizationIds)}::text[]) as of(organization_id)
  cross join lateral ${next(sql`organization_id = of.organization_id ${more}`)} as found`

// Each part is read in the order of an index of its own, no further than the page goes.
const own = sql`(
  select * from ${next(sql`channel_id = ${parameter('channelId')}`)} as of_channel
  union all ${ofEach('organizationIds', sql`and channel_id is null and ${parameter('channelId')} <> ''`)}
  union all ${ofEach('ownOrganizationIds', sql``)}
)`

const nextChanges: Find<Change> = {
  rows: rowsOf(getTableColumns(changes)),
  query: (select) =>
    select
      .from(sql`${own} as changes`)
      .orderBy(changes.transactionId, changes.position)
      .limit(parameter('limit')),
}

/** What has changed for the caller behind a place in the feed, oldest first, up to `limit`: of a channel, its payments
 *  and tickets and the rates of organizations that granted it; of an integration, all of its organization's. What has
 *  been told never changes, and nothing comes to be before it, so that a client goes on where it was (DECISIONS 7). */
export async function listChanges(after: Place, limit: number, ctx: Context): Promise<Change[]> {
  const caller = requireCaller(ctx)
  const isChannel = caller.kind === 'channel'
  return rowStatement(ctx.db, 'changes', nextChanges).execute({
    ...after,
    limit,
    channelId: isChannel ? caller.channelId : '',
    organizationIds: isChannel ? caller.organizationIds : [],
    ownOrganizationIds: isChannel ? [] : caller.organizationIds,
  })
}
