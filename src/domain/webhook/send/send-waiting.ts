import { and, eq, sql } from 'drizzle-orm'
import { nowMs } from '../../../data/leased-jobs.ts'
import type { Connection } from '../../../database/database.ts'
import { webhookDeliveries } from '../table.ts'

/** Nothing stands against a webhook any more. */
export const afresh = { failingSince: null, pausedUntil: null }

/** Makes all that waits for a webhook due: a receiver that was put right need not wait for what was planned while it
 *  was wrong. */
export async function sendWaiting(tx: Connection, webhookId: string): Promise<void> {
  await tx
    .update(webhookDeliveries)
    .set({ dueAt: sql`now()` })
    .where(
      and(
        eq(webhookDeliveries.webhookId, webhookId),
        eq(webhookDeliveries.status, 'pending'),
        sql`${webhookDeliveries.dueAt} > ${nowMs}`,
      ),
    )
}
