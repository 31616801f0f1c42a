import { sql } from 'drizzle-orm'
import { inMode } from '../../data/idempotency.ts'
import { query } from '../../data/query.ts'
import { type Context, requireIntegration } from '../../request/context.ts'
import { toCursor } from './cursor.ts'
import { changes } from './table.ts'

const lastChange = query<{ id: string; position: string }>(
  'last_change_of_feed',
  () => sql`
  select id, feed_position::text as position from ${changes}
  where organization_id = ${sql.placeholder('organizationId')} and mode = ${sql.placeholder('mode')}::text::key_mode
    and feed_position is not null
  order by feed_position desc limit 1`,
)

/** Returns the cursor after the last change that has a position in the calling integration's feed. Whatever is
 *  read afterwards contains all changes before the cursor, and perhaps some behind it.
 *  Refuses: FORBIDDEN for a channel. */
export async function feedHead(ctx: Context): Promise<string> {
  const [organizationId] = requireIntegration(ctx).organizationIds
  const [last] = await lastChange(ctx.db, { organizationId, mode: ctx.mode })
  return toCursor(
    inMode(ctx, organizationId),
    new Map(last ? [[0, { id: last.id, position: Number(last.position) }]] : []),
  )
}
