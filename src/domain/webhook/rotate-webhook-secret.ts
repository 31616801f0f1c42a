import { sql } from 'drizzle-orm'
import { inSeconds } from '../../database/clock.ts'
import type { Context } from '../../request/context.ts'
import { isOwnWith, requireFound } from './own-webhook.ts'
import type { WebhookWithSecret } from './register-webhook.ts'
import { webhooks } from './table.ts'
import { newWebhookSecret } from './webhook-secret.ts'

const overlapSeconds = 24 * 3600

/** Replaces the secret of a webhook. The previous one also signs for another day, so that the receiver can
 *  switch at its own time; older ones stop signing. Refuses: NOT_FOUND. */
export async function rotateWebhookSecret(id: string, ctx: Context): Promise<WebhookWithSecret> {
  const secret = newWebhookSecret()
  const rotated = await ctx.db
    .update(webhooks)
    .set({ secret, previousSecret: sql`${webhooks.secret}`, previousSecretUntil: inSeconds(overlapSeconds) })
    .where(isOwnWith(id, ctx))
    .returning()
  return { webhook: requireFound(rotated), secret }
}
