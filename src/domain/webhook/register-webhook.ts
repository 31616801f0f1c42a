import { eq } from 'drizzle-orm'
import type { z } from 'zod'
import { channels, integrations } from '../../auth/table.ts'
import type { Connection } from '../../database/database.ts'
import { type Context, requireCaller } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import { newId } from '../../shared/ids.ts'
import { isOwn } from './own-webhook.ts'
import { type Webhook, webhooks } from './table.ts'
import { readUrl, type webhookInput } from './webhook-input.ts'
import { newWebhookSecret } from './webhook-secret.ts'

const maxWebhooks = 10

type Caller = ReturnType<typeof requireCaller>

// Serializes registrations of one owner, so that the limit holds. `no key update` lets sales, which refer to
// the owner, proceed.
const lockOwner = (tx: Connection, caller: Caller): Promise<unknown> =>
  caller.kind === 'channel'
    ? tx
        .select({ id: channels.id })
        .from(channels)
        .where(eq(channels.id, caller.channelId))
        .for('no key update')
    : tx
        .select({ id: integrations.id })
        .from(integrations)
        .where(eq(integrations.id, caller.integrationId))
        .for('no key update')

const ownerOf = (caller: Caller) =>
  caller.kind === 'channel' ? { channelId: caller.channelId } : { integrationId: caller.integrationId }

/** A webhook with its secret in clear text, which is shown only once. */
export type WebhookWithSecret = { webhook: Webhook; secret: string }

/** Registers a webhook for the caller's changes: for a channel those of its payments and tickets and of the
 *  rates of organizations that granted it, for an integration all of its organization. Refuses: INVALID,
 *  ADDRESS_NOT_ALLOWED, TOO_MANY_WEBHOOKS (DECISIONS 7). */
export async function registerWebhook(
  { url, types }: z.output<typeof webhookInput>,
  ctx: Context,
): Promise<WebhookWithSecret> {
  const caller = requireCaller(ctx)
  const secret = newWebhookSecret()
  const row = {
    id: newId('whk'),
    url: readUrl(url, ctx.services.privateWebhooks),
    types,
    secret,
    ...ownerOf(caller),
  }
  return ctx.db.transaction(async (tx) => {
    await lockOwner(tx, caller)
    const existing = await tx.select({ id: webhooks.id }).from(webhooks).where(isOwn(ctx))
    if (existing.length >= maxWebhooks)
      throw new Refusal({
        code: 'TOO_MANY_WEBHOOKS',
        message: `A caller can have at most ${maxWebhooks} webhooks.`,
        facts: { limit: maxWebhooks },
      })
    const [webhook] = await tx.insert(webhooks).values(row).returning()
    if (!webhook) throw new Error('the insert returned no webhook')
    return { webhook, secret }
  })
}
