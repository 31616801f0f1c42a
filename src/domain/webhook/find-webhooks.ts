import { and, desc, eq, getTableColumns, getTableName, lt, ne, type SQL, sql } from 'drizzle-orm'
import { type PgUpdateSetSource, unionAll } from 'drizzle-orm/pg-core'
import { cursorReader, encodeCursor } from '../../engine/base/cursor.ts'
import { isIdentifier } from '../../engine/base/ids.ts'
import type { Readers } from '../../engine/data/batch-loader.ts'
import { Loader } from '../../engine/data/loader.ts'
import type { Connection } from '../../engine/database/database.ts'
import { aloneOnRow, transaction } from '../../engine/database/transaction.ts'
import { type Context, requireConfidential } from '../caller/context.ts'
import {
  type Change,
  changes,
  type Webhook,
  type WebhookDelivery,
  webhookDeliveries,
  webhooks,
} from '../change/table.ts'
import { refusal } from '../contract/problem-codes.ts'

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

/** Runs a transaction that locks a row of the caller's: a webhook, or the caller itself. */
export const lockingRow = <Result>(id: string, ctx: Context, work: (tx: Connection) => Promise<Result>) =>
  aloneOnRow(ctx.db, id, () => transaction(ctx.db, work))

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

// Finds a page of deliveries before their changes. `page` numbers the rows of one list among several.
const selectDeliveries = (db: Connection, condition: SQL | undefined, limit = 1, page = 0) =>
  db
    .select({ ...getTableColumns(webhookDeliveries), change: changes, page: sql<number>`${page}::integer` })
    .from(
      db
        .select()
        .from(webhookDeliveries)
        .where(condition)
        .orderBy(desc(webhookDeliveries.changeId))
        .limit(limit)
        .as(getTableName(webhookDeliveries)),
    )
    .innerJoin(
      changes,
      and(
        eq(changes.organizationId, webhookDeliveries.organizationId),
        eq(changes.id, webhookDeliveries.changeId),
      ),
    )

/** Opaque cursor of a delivery in its list. */
export const toCursor = ({ change }: DeliveryWithChange): string => encodeCursor(change.id)

/** Returns the change id that a cursor encodes. */
export const readCursor = cursorReader(/^(chg_\w{26})$/, String)

/** A page of deliveries to a webhook. `after` is the identifier of a change. */
export type DeliveryPage = {
  webhookId: string
  status: WebhookDelivery['status'] | null | undefined
  after: string | null | undefined
  limit: number
}

const selectPage = (db: Connection, { webhookId, status, after, limit }: DeliveryPage, index: number) => {
  const isOfPage = and(
    eq(webhookDeliveries.webhookId, webhookId),
    status ? eq(webhookDeliveries.status, status) : undefined,
    after ? lt(webhookDeliveries.changeId, after) : undefined,
  )
  return selectDeliveries(db, isOfPage, limit, index)
}

/** Loads pages of deliveries to webhooks of the caller by one statement, newest change first, as change identifiers are
 *  ordered by time. A key is the JSON of a page. */
export const deliveryPages = ({ own: { db } }: Readers) =>
  new Loader<DeliveryWithChange[]>(async (keys) => {
    const [first, second, ...others] = keys.map((key, index) => selectPage(db, JSON.parse(key), index))
    if (!first || !second) return [(await first?.orderBy(desc(webhookDeliveries.changeId))) ?? []]
    const found = await unionAll(first, second, ...others).orderBy(desc(webhookDeliveries.changeId))
    return keys.map((_key, index) => found.filter(({ page }) => page === index))
  })

/** Sends a change to a webhook again, with a fresh set of attempts, whatever its status, and ends the pause of
 *  the webhook. Refuses: NOT_FOUND,
 *  ILLEGAL_TRANSITION if the webhook is disabled. */
export const redeliverWebhook = (
  { webhookId, changeId }: { webhookId: string; changeId: string },
  ctx: Context,
): Promise<DeliveryWithChange> =>
  lockingRow(webhookId, ctx, async (tx) => {
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
    const [delivery] = await selectDeliveries(tx, isThisDelivery)
    if (!delivery) throw refusal('NOT_FOUND', 'This webhook has no delivery of this change.', ['changeId'])
    return delivery
  })
