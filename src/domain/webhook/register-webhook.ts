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

// Two that register at once count one after the other. What refers to the owner meanwhile, such as a sale,
// does not wait.
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

/** A webhook and its secret, which is shown this once. */
export type WithSecret = { webhook: Webhook; secret: string }

/** Lets the caller be told of changes at an address: a channel of its payments and tickets and of the rates of
 *  organizations that granted it, an integration of its organization's. Refuses: INVALID, ADDRESS_NOT_ALLOWED,
 *  TOO_MANY_WEBHOOKS (DECISIONS 7). */
export async function registerWebhook(
  { url, types }: z.output<typeof webhookInput>,
  ctx: Context,
): Promise<WithSecret> {
  const caller = requireCaller(ctx)
  const secret = newWebhookSecret()
  const given = {
    id: newId('whk'),
    url: readUrl(url, ctx.services.privateWebhooks),
    types,
    secret,
    ...ownerOf(caller),
  }
  return ctx.db.transaction(async (tx) => {
    await lockOwner(tx, caller)
    const known = await tx.select({ id: webhooks.id }).from(webhooks).where(isOwn(ctx))
    if (known.length >= maxWebhooks)
      throw new Refusal({
        code: 'TOO_MANY_WEBHOOKS',
        message: `There may be ${maxWebhooks} webhooks at the most.`,
        facts: { limit: maxWebhooks },
      })
    const [webhook] = await tx.insert(webhooks).values(given).returning()
    if (!webhook) throw new Error('a webhook that is written is there')
    return { webhook, secret }
  })
}
