import type { Context } from '../../request/context.ts'
import { found, isOwnWith } from './own-webhook.ts'
import { afresh, sendWaiting } from './send/send-waiting.ts'
import { type Webhook, webhooks } from './table.ts'

/** Lets a webhook be told again, whoever disabled it, and sends it at once what waits for it. What has changed in
 *  between is in the feed. Refuses: NOT_FOUND. */
export const enableWebhook = (id: string, ctx: Context): Promise<Webhook> =>
  ctx.db.transaction(async (tx) => {
    const enabled = await tx
      .update(webhooks)
      .set({ status: 'enabled', disabledReason: null, ...afresh })
      .where(isOwnWith(id, ctx))
      .returning()
    const webhook = found(enabled)
    await sendWaiting(tx, webhook.id)
    return webhook
  })
