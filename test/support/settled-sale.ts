import { sql } from 'drizzle-orm'
import { expect, vi } from 'vitest'
import type { Database } from '../../src/engine/database/database.ts'
import { endHolds, endSessions } from './queued-payments.ts'

/** Condition for queued work that is not done, in each table that holds any. */
export const waiting = sql`status = 'pending'`
const unpaid = sql`status in ('pending', 'processing')`

/** Expires all unpaid payments, and waits until the service has no work left. */
export async function settleSale(db: Database): Promise<void> {
  const count = async (table: string, where: typeof waiting) => {
    const [row] = await db
      .select({ count: sql<number>`count(*)::integer` })
      .from(sql`${sql.identifier(table)}`)
      .where(where)
    return row?.count ?? 0
  }
  const left = async () => ({
    unpaid: await count('payments', unpaid),
    openSessions: await count('payments', sql`session_open`),
    refunds: await count('refunds', waiting),
    deliveries: await count('deliveries', waiting),
    webhooks: await count('webhook_deliveries', waiting),
  })
  await endHolds(db, unpaid)
  await endSessions(db)
  const nothing = { unpaid: 0, openSessions: 0, refunds: 0, deliveries: 0, webhooks: 0 }
  await vi.waitFor(async () => expect(await left()).toEqual(nothing), { timeout: 120_000, interval: 50 })
}
