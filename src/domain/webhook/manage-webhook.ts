import { and, eq, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { findEverywhere, readMerged } from '../../engine/data/by-organization.ts'
import { inOrganizationIfNamed, query } from '../../engine/data/query.ts'
import { inSeconds, nowMs } from '../../engine/database/clock.ts'
import type { Connection, Database } from '../../engine/database/database.ts'
import { type Context, requireConfidential } from '../caller/context.ts'
import { checkReplay, hashRequest } from '../caller/idempotency.ts'
import { nameInMode } from '../caller/mode.ts'
import { channels, integrations } from '../caller/table.ts'
import { type Webhook, webhookDeliveries, webhooks } from '../change/table.ts'
import { newId } from '../contract/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import { isOwnWebhook, lockingRow, updateOwnWebhook } from './find-webhooks.ts'
import { newWebhookSecret } from './secret.ts'
import { webhooksWithPending } from './send/claim-deliveries.ts'
import {
  readWebhookUrl,
  type rotationInput,
  type webhookInput,
  type webhookUpdateInput,
} from './webhook-input.ts'

const maxWebhooks = 10

// Time during which the previous secret also signs after a rotation.
const overlapSeconds = 24 * 3600

/** A webhook with its secret in clear text, which is shown only under the idempotency key that it was made under. */
export type WebhookWithSecret = { webhook: Webhook; secret: string; replayed: boolean }

type NewSecret = Pick<Webhook, 'secret' | 'idempotencyKey' | 'requestHash'>

// Makes a secret, or replays the one that the same idempotency key and request made: for a day, while it is the newest
// of its webhook. Serializes requests of one owner; `no key update` lets sales, which refer to the owner, proceed.
function makeSecret(
  { idempotencyKey, ...request }: { idempotencyKey: string },
  ctx: Context,
  make: (tx: Connection, secret: NewSecret) => Promise<Webhook>,
): Promise<WebhookWithSecret> {
  const caller = requireConfidential(ctx)
  const [owners, ownerId] =
    caller.kind === 'channel' ? [channels, caller.channelId] : [integrations, caller.integrationId]
  const key = hashRequest(nameInMode(ctx, ownerId), idempotencyKey, request)
  return lockingRow(ownerId, ctx, async (tx) => {
    await tx.select({ id: owners.id }).from(owners).where(eq(owners.id, ownerId)).for('no key update')
    const isFresh = sql`coalesce(${webhooks.previousSecretUntil}, ${webhooks.createdAt} + interval '1 day') > ${nowMs}`
    const isMade = and(isOwnWebhook(ctx), eq(webhooks.idempotencyKey, key.id), isFresh)
    const [made] = await tx.select().from(webhooks).where(isMade)
    const known = checkReplay(made, key.requestHash, 'This key was already used for another secret.')
    if (known) return { webhook: known, secret: known.secret, replayed: true }
    const secret = newWebhookSecret()
    const webhook = await make(tx, { secret, idempotencyKey: key.id, requestHash: key.requestHash })
    return { webhook, secret, replayed: false }
  })
}

/** Registers a webhook for the caller's changes: for a channel those of its payments and tickets and of the
 *  rates of organizations that granted it, for an integration all of its organization. Refuses: INVALID,
 *  ADDRESS_NOT_ALLOWED, TOO_MANY_WEBHOOKS, IDEMPOTENCY_KEY_REUSED (DECISIONS, changes). */
export function registerWebhook(input: z.output<typeof webhookInput>, ctx: Context) {
  const caller = requireConfidential(ctx)
  const row = {
    id: newId('whk'),
    mode: ctx.mode,
    url: readWebhookUrl(input.url, ctx.services.privateWebhooks),
    types: input.types,
    channelId: caller.kind === 'channel' ? caller.channelId : null,
    integrationId: caller.kind === 'integration' ? caller.integrationId : null,
  }
  return makeSecret(input, ctx, async (tx, secret) => {
    const existing = await tx.select({ id: webhooks.id }).from(webhooks).where(isOwnWebhook(ctx))
    if (existing.length >= maxWebhooks)
      throw refusal('TOO_MANY_WEBHOOKS', `A caller can have at most ${maxWebhooks} webhooks.`, undefined, {
        limit: maxWebhooks,
      })
    const inserted = tx.insert(webhooks).values({ ...row, ...secret })
    const [webhook] = (await inserted.returning()) as [Webhook]
    return webhook
  })
}

// Deliveries that a step makes due or drops, in a request and in a job. It locks them for some milliseconds.
const fewAtOnce = 10
const manyAtOnce = 1_000

const { organizationId, webhookId, changeId, dueAt, status } = webhookDeliveries
const named = sql.placeholder('webhookId')
const limit = sql`${sql.placeholder('limit')}::integer`
// The latest ones first. Those whose outcome is being recorded are left alone.
const partOf = (condition: SQL) => sql`(
  select ${organizationId}, ${webhookId}, ${changeId}, ${dueAt} from ${webhookDeliveries}
  where ${inOrganizationIfNamed(organizationId)} and ${webhookId} = ${named} and ${status} = 'pending' and ${condition}
  order by ${dueAt} desc limit ${limit} for update skip locked) as part`
const isInPart = sql`${inOrganizationIfNamed(organizationId)} and ${organizationId} = part.organization_id
  and ${webhookId} = part.webhook_id and ${changeId} = part.change_id`
const isLater = sql`${dueAt} > ${nowMs} and ${dueAt} <= to_timestamp(${sql.placeholder('until')}::float8 / 1000)`

// Step that returns what it leaves: milliseconds since 1970 up to which that is due, or 0 for nothing.
const stepOf = (name: string, write: () => SQL) =>
  query<{ left: number }>(
    name,
    () => sql`with done as (${write()} returning part.due_at)
    select case when count(*) < ${limit} then 0 else extract(epoch from min(due_at)) * 1000 end::float8 as left from done`,
  )
const makeDue = stepOf(
  'make_webhook_deliveries_due',
  () => sql`update ${webhookDeliveries} set due_at = now() from ${partOf(isLater)} where ${isInPart}`,
)
const drop = stepOf(
  'drop_webhook_deliveries',
  () => sql`delete from ${webhookDeliveries} using ${partOf(sql`true`)} where ${isInPart}`,
)

// Takes a step, on a distributed database one of each organization.
const takeStep = (
  db: Database,
  tx: Connection,
  step: typeof drop,
  values: { webhookId: string; until?: number; limit: number },
) =>
  readMerged(
    db,
    async () => {
      const find = (isAsked: SQL) => sql`select distinct ${organizationId} as id from ${webhookDeliveries}
        where ${isAsked} and ${webhookId} = ${values.webhookId} and ${status} = 'pending'`
      return (await findEverywhere<{ id: string }>(db, organizationId, find)).map(({ id }) => id)
    },
    async (organizationId) => (await step(tx, { ...values, organizationId }))[0]?.left ?? 0,
    (left) => Math.max(0, ...left),
  )

// Later than any delivery is due.
const farthest = 8.64e15

/** Updates a webhook that is then tried as if it had never failed. Its pending deliveries are due now, so that a
 *  repaired receiver skips the backoff: the first of them with the update, the others by `resumeWebhooks`. */
const updateAndResume = (id: string, values: Parameters<typeof updateOwnWebhook>[2], ctx: Context) =>
  lockingRow(id, ctx, async (tx) => {
    const begun = { ...values, failingSince: null, pausedUntil: null, resumesUntil: null }
    const webhook = await updateOwnWebhook(tx, id, begun, ctx)
    const left = await takeStep(ctx.db, tx, makeDue, { webhookId: id, until: farthest, limit: fewAtOnce })
    if (left) await updateOwnWebhook(tx, id, { resumesUntil: new Date(left) }, ctx)
    return webhook
  })

/** Makes the deliveries due that webhooks still waited for when they were enabled. A delivery that fails meanwhile keeps its
 *  pause: it is due later than it was, and steps go from the latest ones to the next. */
export async function resumeWebhooks(db: Database): Promise<void> {
  const { id, resumesUntil: until } = webhooks
  const resume = async (resumed: { id: string; until: Date | null }): Promise<void> => {
    if (!resumed.until) return
    const values = { webhookId: resumed.id, until: resumed.until.getTime(), limit: manyAtOnce }
    const left = await takeStep(db, db, makeDue, values)
    // Another time was set if it was enabled again, or deleted.
    const isSame = and(eq(id, resumed.id), eq(until, resumed.until))
    const resumesUntil = left ? new Date(left) : null
    const [next] = await db.update(webhooks).set({ resumesUntil }).where(isSame).returning({ id, until })
    if (next) await resume(next)
  }
  for (const resumed of await db.select({ id, until }).from(webhooks).where(isNotNull(until)))
    await resume(resumed)
}

/** Changes the URL or the types of a webhook, which may be disabled. Pending deliveries go to the new URL.
 *  Refuses: NOT_FOUND, INVALID, ADDRESS_NOT_ALLOWED. */
export async function updateWebhook(
  { webhookId: id, url, types }: z.output<typeof webhookUpdateInput>,
  ctx: Context,
): Promise<Webhook> {
  // An update must set a column, even if nothing changes.
  const chosen = { types: types === undefined ? sql`${webhooks.types}` : types }
  if (url === undefined) return lockingRow(id, ctx, (tx) => updateOwnWebhook(tx, id, chosen, ctx))
  return updateAndResume(id, { ...chosen, url: readWebhookUrl(url, ctx.services.privateWebhooks) }, ctx)
}

/** Enables a webhook, whoever disabled it, and makes its pending deliveries due. Changes made while it was
 *  disabled are only in the feed. Refuses: NOT_FOUND. */
export const enableWebhook = (id: string, ctx: Context): Promise<Webhook> =>
  updateAndResume(id, { status: 'enabled', disabledReason: null }, ctx)

/** Disables a webhook until it is enabled again. Keeps its pending deliveries, and an earlier reason.
 *  Refuses: NOT_FOUND. */
export async function disableWebhook(id: string, ctx: Context): Promise<Webhook> {
  const disabledReason = sql`coalesce(${webhooks.disabledReason}, 'REQUESTED')`
  return lockingRow(id, ctx, (tx) => updateOwnWebhook(tx, id, { status: 'disabled', disabledReason }, ctx))
}

/** Deletes a webhook with its secrets, and drops pending deliveries: the first with the deletion, the others by
 *  `dropOfDeleted`. Returns its id. Refuses: NOT_FOUND. */
export const deleteWebhook = (id: string, ctx: Context): Promise<{ id: string }> =>
  lockingRow(id, ctx, async (tx) => {
    const nothing = { secret: '', previousSecret: null, previousSecretUntil: null, resumesUntil: null }
    await updateOwnWebhook(tx, id, { status: 'deleted', ...nothing }, ctx)
    await takeStep(ctx.db, tx, drop, { webhookId: id, limit: fewAtOnce })
    return { id }
  })

/** Drops pending deliveries of deleted webhooks: a sale that saw a webhook may commit after its deletion. */
export async function dropOfDeleted(db: Database): Promise<void> {
  const find = (waited: SQL) => sql`select distinct waited.id from ${waited} as waited
    where (select ${webhooks.status} = 'deleted' from ${webhooks} where ${webhooks.id} = waited.id)`
  const pending = (isAsked: SQL) =>
    sql`(select ${webhookId} as id from ${webhookDeliveries} where ${isAsked} and ${status} = 'pending')`
  const found = await findEverywhere<{ id: string }>(
    db,
    organizationId,
    (isAsked) => find(pending(isAsked)),
    () => find(webhooksWithPending(sql`true`)),
  )
  for (const { id } of found) while (await takeStep(db, db, drop, { webhookId: id, limit: manyAtOnce }));
}

/** Replaces the secret of a webhook. The previous one also signs for another day, so that the receiver can
 *  switch at its own time; older ones stop signing. Refuses: NOT_FOUND, IDEMPOTENCY_KEY_REUSED. */
export const rotateWebhookSecret = (input: z.output<typeof rotationInput>, ctx: Context) =>
  makeSecret(input, ctx, (tx, secret) => {
    const previous = {
      previousSecret: sql`${webhooks.secret}`,
      previousSecretUntil: inSeconds(overlapSeconds),
    }
    return updateOwnWebhook(tx, input.webhookId, { ...secret, ...previous }, ctx)
  })
