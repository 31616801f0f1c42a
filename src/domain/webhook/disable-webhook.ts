import { sql } from 'drizzle-orm'
import type { Context } from '../../request/context.ts'
import { found, isOwnWith } from './own-webhook.ts'
import { type Webhook, webhooks } from './table.ts'

/** Stops telling a webhook until it is enabled. What waits for it goes on waiting. Why it was disabled before stays.
 *  Refuses: NOT_FOUND. */
export async function disableWebhook(id: string, ctx: Context): Promise<Webhook> {
  const disabled = await ctx.db
    .update(webhooks)
    .set({ status: 'disabled', disabledReason: sql`coalesce(${webhooks.disabledReason}, 'REQUESTED')` })
    .where(isOwnWith(id, ctx))
    .returning()
  return found(disabled)
}
