import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { type Context, requireCaller } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { type Webhook, webhooks } from './table.ts'

/** Those of the caller. Refuses: UNAUTHENTICATED. */
export function isOwn(ctx: Context): SQL | undefined {
  const caller = requireCaller(ctx)
  const owner =
    caller.kind === 'channel'
      ? eq(webhooks.channelId, caller.channelId)
      : eq(webhooks.integrationId, caller.integrationId)
  return and(owner, ne(webhooks.status, 'deleted'))
}

/** The one with this identifier, if it is the caller's. What is no identifier is nobody's. */
export const isOwnWith = (id: string, ctx: Context): SQL | undefined =>
  and(isOwn(ctx), scalars.identifier.safeParse(id).success ? eq(webhooks.id, id) : sql`false`)

/** What was found of a webhook of the caller's. Refuses: NOT_FOUND, where nothing was. */
export function found<Row>([row]: Row[], name = 'id'): Row {
  if (!row) throw new Refusal({ code: 'NOT_FOUND', message: 'There is no such webhook.', path: [name] })
  return row
}

/** One webhook of the caller; null where there is none. */
export async function findWebhook(id: string, ctx: Context): Promise<Webhook | null> {
  const [webhook] = await ctx.db.select().from(webhooks).where(isOwnWith(id, ctx))
  return webhook ?? null
}

/** The webhooks of the caller, the oldest first. */
export const listWebhooks = (ctx: Context): Promise<Webhook[]> =>
  ctx.db.select().from(webhooks).where(isOwn(ctx)).orderBy(webhooks.createdAt, webhooks.id)
