import { and, desc, eq, getTableColumns, lt, ne, type SQL, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import type { Connection } from '../../database/database.ts'
import { type Context, requireConfidential } from '../../request/context.ts'
import { decodeCursor, encodeCursor } from '../../shared/cursor.ts'
import { refusal } from '../../shared/errors.ts'
import { isIdentifier } from '../../shared/ids.ts'
import { type Change, changes } from '../change/table.ts'
import { type Webhook, type WebhookDelivery, webhookDeliveries, webhooks } from './table.ts'

/** Condition that matches the caller's webhooks of its mode, without deleted ones. Refuses: UNAUTHENTICATED. */
export function isOwnWebhook(ctx: Context): SQL | undefined {
  const caller = requireConfidential(ctx)
  const owner =
    caller.kind === 'channel'
      ? eq(webhooks.channelId, caller.channelId)
      : eq(webhooks.integrationId, caller.integrationId)
  return and(owner, eq(webhooks.mode, ctx.mode), ne(webhooks.status, 'deleted'))
}

/** Changes a webhook of the caller, and locks its row in a transaction. Refuses: NOT_FOUND. */
export async function updateOwnWebhook(
  db: Connection,
  id: string,
  values: PgUpdateSetSource<typeof webhooks>,
  ctx: Context,
): Promise<Webhook> {
  const isThis = isIdentifier(id) ? eq(webhooks.id, id) : sql`false`
  const changed = db
    .update(webhooks)
    .set(values)
    .where(and(isOwnWebhook(ctx), isThis))
  const [webhook] = await changed.returning()
  if (!webhook) throw refusal('NOT_FOUND', 'There is no such webhook.', ['webhookId'])
  return webhook
}

/** Finds webhooks of the caller, in the order of the identifiers; a publishable key has none. */
export async function findOwnWebhooks(ids: string[], ctx: Context): Promise<(Webhook | null)[]> {
  if (ctx.caller?.kind === 'publishable') return ids.map(() => null)
  const isAsked = sql`${webhooks.id} = any(${sql.param(ids.filter(isIdentifier))}::text[])`
  const found = await ctx.db
    .select()
    .from(webhooks)
    .where(and(isOwnWebhook(ctx), isAsked))
  return ids.map((id) => found.find((webhook) => webhook.id === id) ?? null)
}

/** Lists the caller's webhooks, oldest first. */
export const listWebhooks = (ctx: Context): Promise<Webhook[]> =>
  ctx.db.select().from(webhooks).where(isOwnWebhook(ctx)).orderBy(webhooks.createdAt, webhooks.id)

/** A delivery and the change that it delivers. */
export type DeliveryWithChange = WebhookDelivery & { change: Change }

const selectDeliveries = (db: Connection) =>
  db
    .select({ ...getTableColumns(webhookDeliveries), change: changes })
    .from(webhookDeliveries)
    .innerJoin(
      changes,
      and(
        eq(changes.organizationId, webhookDeliveries.organizationId),
        eq(changes.id, webhookDeliveries.changeId),
      ),
    )

/** Opaque cursor of a delivery in its list. */
export const toCursor = ({ change }: DeliveryWithChange): string => encodeCursor(change.id)

/** Returns the change id that a cursor encodes. Refuses: INVALID, for a text that is not such a cursor. */
export const readCursor = (cursor: string): string =>
  decodeCursor(cursor, (id) => (/^chg_\w{26}$/.test(id) ? id : null))

type Page = { status?: WebhookDelivery['status'] | null; after?: string | null | undefined; limit: number }

/** Lists the deliveries to a webhook, newest change first, as change identifiers are ordered by time. `after`
 *  is the identifier of a change. */
export const listDeliveries = (
  db: Connection,
  { id }: Pick<Webhook, 'id'>,
  { status, after, limit }: Page,
): Promise<DeliveryWithChange[]> =>
  selectDeliveries(db)
    .where(
      and(
        eq(webhookDeliveries.webhookId, id),
        status ? eq(webhookDeliveries.status, status) : undefined,
        after ? lt(webhookDeliveries.changeId, after) : undefined,
      ),
    )
    .orderBy(desc(webhookDeliveries.changeId))
    .limit(limit)

/** Sends a change to a webhook again, with a fresh set of attempts, whatever its status, and ends the pause of
 *  the webhook. Refuses: NOT_FOUND,
 *  ILLEGAL_TRANSITION if the webhook is disabled. */
export const redeliverWebhook = (
  { webhookId, changeId }: { webhookId: string; changeId: string },
  ctx: Context,
): Promise<DeliveryWithChange> =>
  ctx.db.transaction(async (tx) => {
    const webhook = await updateOwnWebhook(tx, webhookId, { pausedUntil: null }, ctx)
    if (webhook.status === 'disabled')
      throw refusal('ILLEGAL_TRANSITION', 'The webhook is disabled: enable it first.', ['webhookId'], {
        from: webhook.status,
        to: 'pending',
      })
    const isThisDelivery = and(
      eq(webhookDeliveries.webhookId, webhook.id),
      isIdentifier(changeId) ? eq(webhookDeliveries.changeId, changeId) : sql`false`,
    )
    await tx
      .update(webhookDeliveries)
      .set({ status: 'pending', attempts: 0, dueAt: sql`now()`, deliveredAt: null })
      .where(isThisDelivery)
    const [delivery] = await selectDeliveries(tx).where(isThisDelivery)
    if (!delivery) throw refusal('NOT_FOUND', 'This webhook has no delivery of this change.', ['changeId'])
    return delivery
  })
