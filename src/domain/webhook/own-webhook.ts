import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { type Context, requireConfidential } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import { isIdentifier } from '../../shared/ids.ts'
import { type Webhook, webhooks } from './table.ts'

/** Condition that matches the caller's webhooks of its mode, without deleted ones. Refuses: UNAUTHENTICATED. */
export function isOwn(ctx: Context): SQL | undefined {
  const caller = requireConfidential(ctx)
  const owner =
    caller.kind === 'channel'
      ? eq(webhooks.channelId, caller.channelId)
      : eq(webhooks.integrationId, caller.integrationId)
  return and(owner, eq(webhooks.mode, ctx.mode), ne(webhooks.status, 'deleted'))
}

/** Condition that matches the caller's webhook with this id. A malformed id matches nothing. */
export const isOwnWith = (id: string, ctx: Context): SQL | undefined =>
  and(isOwn(ctx), isIdentifier(id) ? eq(webhooks.id, id) : sql`false`)

/** Returns the row of a query for one webhook. Refuses: NOT_FOUND, if there is none. */
export function requireFound<Row>([row]: Row[], name = 'id'): Row {
  if (!row) throw new Refusal({ code: 'NOT_FOUND', message: 'There is no such webhook.', path: [name] })
  return row
}

/** Finds webhooks of the caller, in the order of the identifiers; a publishable key has none. */
export async function findOwnWebhooks(ids: string[], ctx: Context): Promise<(Webhook | null)[]> {
  if (ctx.caller?.kind === 'publishable') return ids.map(() => null)
  const isAsked = sql`${webhooks.id} = any(${sql.param(ids.filter(isIdentifier))}::text[])`
  const found = await ctx.db
    .select()
    .from(webhooks)
    .where(and(isOwn(ctx), isAsked))
  return ids.map((id) => found.find((webhook) => webhook.id === id) ?? null)
}

/** Lists the caller's webhooks, oldest first. */
export const listWebhooks = (ctx: Context): Promise<Webhook[]> =>
  ctx.db.select().from(webhooks).where(isOwn(ctx)).orderBy(webhooks.createdAt, webhooks.id)
