import type { z } from 'zod'
import type { Context } from '../../request/context.ts'
import { found, isOwnWith } from './own-webhook.ts'
import { afresh, sendWaiting } from './send/send-waiting.ts'
import { type Webhook, webhooks } from './table.ts'
import { readUrl, type webhookChanges } from './webhook-input.ts'

/** Changes where a webhook leads, or what it is told of; what waits for it goes to the new address. One that is
 *  disabled stays so. Refuses: NOT_FOUND, INVALID, ADDRESS_NOT_ALLOWED. */
export async function updateWebhook(
  id: string,
  { url, types }: z.output<typeof webhookChanges>,
  ctx: Context,
): Promise<Webhook> {
  const moved = url === undefined ? {} : { url: readUrl(url, ctx.services.privateWebhooks), ...afresh }
  return ctx.db.transaction(async (tx) => {
    const own = isOwnWith(id, ctx)
    const changed = { ...moved, ...(types && { types }) }
    const rows =
      Object.keys(changed).length === 0
        ? await tx.select().from(webhooks).where(own)
        : await tx.update(webhooks).set(changed).where(own).returning()
    const webhook = found(rows)
    if (url !== undefined) await sendWaiting(tx, webhook.id)
    return webhook
  })
}
