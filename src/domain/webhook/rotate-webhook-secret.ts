import { sql } from 'drizzle-orm'
import { inSeconds } from '../../data/leased-jobs.ts'
import type { Context } from '../../request/context.ts'
import { found, isOwnWith } from './own-webhook.ts'
import type { WithSecret } from './register-webhook.ts'
import { webhooks } from './table.ts'
import { newWebhookSecret } from './webhook-secret.ts'

const overlapSeconds = 24 * 3600

/** Gives a webhook a new secret. The one that it had signs as well for another day, so that no receiver has to change
 *  in the same moment; one from before that no longer does. Refuses: NOT_FOUND. */
export async function rotateWebhookSecret(id: string, ctx: Context): Promise<WithSecret> {
  const secret = newWebhookSecret()
  const rotated = await ctx.db
    .update(webhooks)
    .set({ secret, previousSecret: sql`${webhooks.secret}`, previousSecretUntil: inSeconds(overlapSeconds) })
    .where(isOwnWith(id, ctx))
    .returning()
  return { webhook: found(rotated), secret }
}
