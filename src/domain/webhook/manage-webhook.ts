import { createHmac, randomBytes } from 'node:crypto'
import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { channels, integrations } from '../../auth/table.ts'
import { findEverywhere } from '../../data/by-organization.ts'
import { checkReplay, hashIdempotency, nameInMode } from '../../data/idempotency.ts'
import { inSeconds, nowMs } from '../../database/clock.ts'
import type { Connection, Database } from '../../database/database.ts'
import { type Context, requireConfidential } from '../../request/context.ts'
import { refusal } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import { isOwnWebhook, lockingRow, updateOwnWebhook } from './find-webhooks.ts'
import { type Webhook, webhookDeliveries, webhooks } from './table.ts'
import {
  readWebhookUrl,
  type rotationInput,
  type webhookInput,
  type webhookUpdateInput,
} from './webhook-input.ts'

const prefix = 'whsec_'

// Generates a secret: 256 random bits in the format of Standard Webhooks.
const newWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`

/** Signs a message with each live secret: the value of `webhook-signature` (Standard Webhooks). */
export const signMessage = (secrets: string[], { id, timestamp, body }: Message): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')

/** Signed parts of a message. The timestamp is the time of the attempt, in Unix seconds. */
type Message = { id: string; timestamp: number; body: string }

const maxWebhooks = 10

// Time during which the previous secret also signs after a rotation.
const overlapSeconds = 24 * 3600

/** A webhook with its secret in clear text, which is shown only under the idempotency key that it was made under. */
export type WebhookWithSecret = { webhook: Webhook; secret: string; replayed: boolean }

type NewSecret = Pick<typeof webhooks.$inferInsert, 'secret' | 'idempotencyKey' | 'requestHash'>

// Makes a secret, or replays the one that the same idempotency key and request made: for a day, while it is the newest
// of its webhook. Serializes requests of one owner; `no key update` lets sales, which refer to the owner, proceed.
function makeSecret(
  { idempotencyKey, ...request }: { idempotencyKey?: string | null | undefined },
  ctx: Context,
  make: (tx: Connection, secret: NewSecret) => Promise<Webhook>,
): Promise<WebhookWithSecret> {
  const caller = requireConfidential(ctx)
  const [owners, ownerId] =
    caller.kind === 'channel' ? [channels, caller.channelId] : [integrations, caller.integrationId]
  const key = hashIdempotency(nameInMode(ctx, ownerId), idempotencyKey, request)
  return lockingRow(ownerId, ctx, async (tx) => {
    await tx.select({ id: owners.id }).from(owners).where(eq(owners.id, ownerId)).for('no key update')
    if (key) {
      const isFresh = sql`coalesce(${webhooks.previousSecretUntil}, ${webhooks.createdAt} + interval '1 day') > ${nowMs}`
      const isMade = and(isOwnWebhook(ctx), eq(webhooks.idempotencyKey, key.id), isFresh)
      const [made] = await tx.select().from(webhooks).where(isMade)
      const webhook = checkReplay(made, key.requestHash, 'This key was already used for another secret.')
      if (webhook) return { webhook, secret: webhook.secret, replayed: true }
    }
    const secret = newWebhookSecret()
    const { id: idempotencyKey = null, requestHash = null } = key ?? {}
    const webhook = await make(tx, { secret, idempotencyKey, requestHash })
    return { webhook, secret, replayed: false }
  })
}

/** Registers a webhook for the caller's changes: for a channel those of its payments and tickets and of the
 *  rates of organizations that granted it, for an integration all of its organization. Refuses: INVALID,
 *  ADDRESS_NOT_ALLOWED, TOO_MANY_WEBHOOKS, IDEMPOTENCY_KEY_REUSED (DECISIONS 7). */
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

const isPendingFor = ({ id }: Webhook) =>
  and(eq(webhookDeliveries.webhookId, id), eq(webhookDeliveries.status, 'pending'))

/** Updates a webhook that is then tried as if it had never failed. Its pending deliveries are due now, so that a
 *  repaired receiver skips the backoff. */
const updateAndResume = (id: string, values: Parameters<typeof updateOwnWebhook>[2], ctx: Context) =>
  lockingRow(id, ctx, async (tx) => {
    const webhook = await updateOwnWebhook(tx, id, { ...values, failingSince: null, pausedUntil: null }, ctx)
    await tx
      .update(webhookDeliveries)
      .set({ dueAt: sql`now()` })
      .where(and(isPendingFor(webhook), sql`${webhookDeliveries.dueAt} > ${nowMs}`))
    return webhook
  })

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

/** Deletes a webhook with its secrets, and drops pending deliveries. Returns its id. Refuses: NOT_FOUND. */
export const deleteWebhook = (id: string, ctx: Context): Promise<{ id: string }> =>
  lockingRow(id, ctx, async (tx) => {
    const noSecrets = { secret: '', previousSecret: null, previousSecretUntil: null }
    const webhook = await updateOwnWebhook(tx, id, { status: 'deleted', ...noSecrets }, ctx)
    await tx.delete(webhookDeliveries).where(isPendingFor(webhook))
    return { id: webhook.id }
  })

/** Drops pending deliveries of deleted webhooks: a sale that saw a webhook may commit after its deletion. */
export async function dropOfDeleted(db: Database): Promise<void> {
  const { organizationId, webhookId, status } = webhookDeliveries
  const isOfDeleted = sql`${status} = 'pending'
    and ${webhookId} = any(array(select ${webhooks.id} from ${webhooks} where ${webhooks.status} = 'deleted'))`
  const found = await findEverywhere<{ organizationId: string }>(
    db,
    organizationId,
    (isAsked) => sql`
      select distinct ${organizationId} as "organizationId" from ${webhookDeliveries} where ${isAsked} and ${isOfDeleted}`,
  )
  for (const own of found)
    await db.delete(webhookDeliveries).where(and(eq(organizationId, own.organizationId), isOfDeleted))
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
