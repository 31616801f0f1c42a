import { and, eq } from 'drizzle-orm'
import type { Context } from '../../request/context.ts'
import { found, isOwnWith } from './own-webhook.ts'
import { webhookDeliveries, webhooks } from './table.ts'

/** Forgets a webhook and its secrets: nothing more is sent to it. Gives its identifier. Refuses: NOT_FOUND. */
export const deleteWebhook = (id: string, ctx: Context): Promise<{ id: string }> =>
  ctx.db.transaction(async (tx) => {
    const deleted = await tx
      .update(webhooks)
      .set({ status: 'deleted', secret: '', previousSecret: null, previousSecretUntil: null })
      .where(isOwnWith(id, ctx))
      .returning({ id: webhooks.id })
    const webhook = found(deleted)
    await tx
      .update(webhookDeliveries)
      .set({ status: 'dead', lastError: 'DELETED' })
      .where(and(eq(webhookDeliveries.webhookId, webhook.id), eq(webhookDeliveries.status, 'pending')))
    return webhook
  })
