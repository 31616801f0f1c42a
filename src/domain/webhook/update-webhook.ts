import type { z } from 'zod'
import type { Context } from '../../request/context.ts'
import { isOwnWith, requireFound } from './own-webhook.ts'
import { noFailures, resumeDeliveries } from './send/resume-deliveries.ts'
import { type Webhook, webhooks } from './table.ts'
import { readUrl, type webhookChanges } from './webhook-input.ts'

/** Changes the URL or the types of a webhook, which may be disabled. Pending deliveries go to the new URL.
 *  Refuses: NOT_FOUND, INVALID, ADDRESS_NOT_ALLOWED. */
export async function updateWebhook(
  id: string,
  { url, types }: z.output<typeof webhookChanges>,
  ctx: Context,
): Promise<Webhook> {
  const newUrl = url === undefined ? {} : { url: readUrl(url, ctx.services.privateWebhooks), ...noFailures }
  return ctx.db.transaction(async (tx) => {
    const own = isOwnWith(id, ctx)
    const changed = { ...newUrl, ...(types && { types }) }
    const rows =
      Object.keys(changed).length === 0
        ? await tx.select().from(webhooks).where(own)
        : await tx.update(webhooks).set(changed).where(own).returning()
    const webhook = requireFound(rows)
    if (url !== undefined) await resumeDeliveries(tx, webhook.id)
    return webhook
  })
}
