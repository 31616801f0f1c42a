import { sql } from 'drizzle-orm'
import type { Context } from '../../request/context.ts'
import { isOwnWith, requireFound } from './own-webhook.ts'
import { type Webhook, webhooks } from './table.ts'

/** Disables a webhook until it is enabled again. Keeps its pending deliveries, and an earlier reason.
 *  Refuses: NOT_FOUND. */
export async function disableWebhook(id: string, ctx: Context): Promise<Webhook> {
  const disabled = await ctx.db
    .update(webhooks)
    .set({ status: 'disabled', disabledReason: sql`coalesce(${webhooks.disabledReason}, 'REQUESTED')` })
    .where(isOwnWith(id, ctx))
    .returning()
  return requireFound(disabled)
}
