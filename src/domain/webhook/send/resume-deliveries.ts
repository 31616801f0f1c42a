import { and, eq, sql } from 'drizzle-orm'
import { nowMs } from '../../../database/clock.ts'
import type { Connection } from '../../../database/database.ts'
import { webhookDeliveries } from '../table.ts'

/** Columns of a webhook that is to be tried as if it had never failed. */
export const noFailures = { failingSince: null, pausedUntil: null }

/** Makes all pending deliveries of a webhook due now, so that a repaired receiver skips the backoff. */
export async function resumeDeliveries(tx: Connection, webhookId: string): Promise<void> {
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
