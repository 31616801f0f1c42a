import { and, eq, sql } from 'drizzle-orm'
import type { Context } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { type DeliveryWithChange, selectDeliveries } from './list-deliveries.ts'
import { isOwnWith, requireFound } from './own-webhook.ts'
import { webhookDeliveries, webhooks } from './table.ts'

/** Sends a change to a webhook again, with a fresh set of attempts, whatever its status. Refuses: NOT_FOUND,
 *  ILLEGAL_TRANSITION if the webhook is disabled. */
export const redeliverWebhook = (
  { webhookId, changeId }: { webhookId: string; changeId: string },
  ctx: Context,
): Promise<DeliveryWithChange> =>
  ctx.db.transaction(async (tx) => {
    const own = await tx.select().from(webhooks).where(isOwnWith(webhookId, ctx)).for('no key update')
    const webhook = requireFound(own, 'webhookId')
    if (webhook.status === 'disabled')
      throw new Refusal({
        code: 'ILLEGAL_TRANSITION',
        message: 'The webhook is disabled: enable it first.',
        path: ['webhookId'],
        facts: { from: webhook.status, to: 'pending' },
      })
    const isThisDelivery = and(
      eq(webhookDeliveries.webhookId, webhook.id),
      scalars.identifier.safeParse(changeId).success ? eq(webhookDeliveries.changeId, changeId) : sql`false`,
    )
    await tx
      .update(webhookDeliveries)
      .set({ status: 'pending', attempts: 0, dueAt: sql`now()`, deliveredAt: null })
      .where(isThisDelivery)
    const [delivery] = await selectDeliveries(tx).where(isThisDelivery)
    if (!delivery)
      throw new Refusal({
        code: 'NOT_FOUND',
        message: 'This webhook has no delivery of this change.',
        path: ['changeId'],
      })
    return delivery
  })
