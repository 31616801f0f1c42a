import { and, eq } from 'drizzle-orm'
import type { Context } from '../../request/context.ts'
import { isOwnWith, requireFound } from './own-webhook.ts'
import { webhookDeliveries, webhooks } from './table.ts'

/** Deletes a webhook with its secrets, and drops pending deliveries. Returns its id. Refuses: NOT_FOUND. */
export const deleteWebhook = (id: string, ctx: Context): Promise<{ id: string }> =>
  ctx.db.transaction(async (tx) => {
    const deleted = await tx
      .update(webhooks)
      .set({ status: 'deleted', secret: '', previousSecret: null, previousSecretUntil: null })
      .where(isOwnWith(id, ctx))
      .returning({ id: webhooks.id })
    const webhook = requireFound(deleted)
    await tx
      .update(webhookDeliveries)
      .set({ status: 'dead', lastError: 'DELETED' })
      .where(and(eq(webhookDeliveries.webhookId, webhook.id), eq(webhookDeliveries.status, 'pending')))
    return webhook
  })
