import type { Context } from '../../request/context.ts'
import { isOwnWith, requireFound } from './own-webhook.ts'
import { noFailures, resumeDeliveries } from './send/resume-deliveries.ts'
import { type Webhook, webhooks } from './table.ts'

/** Enables a webhook, whoever disabled it, and makes its pending deliveries due. Changes made while it was
 *  disabled are only in the feed. Refuses: NOT_FOUND. */
export const enableWebhook = (id: string, ctx: Context): Promise<Webhook> =>
  ctx.db.transaction(async (tx) => {
    const enabled = await tx
      .update(webhooks)
      .set({ status: 'enabled', disabledReason: null, ...noFailures })
      .where(isOwnWith(id, ctx))
      .returning()
    const webhook = requireFound(enabled)
    await resumeDeliveries(tx, webhook.id)
    return webhook
  })
