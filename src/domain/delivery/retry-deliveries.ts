import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Database } from '../../database/database.ts'
import { deliveries } from './table.ts'

/** Makes dead deliveries due again with a fresh set of attempts: those with the given identifiers, or `all`.
 *  Leaves other deliveries alone. Returns the identifiers of those that are due again. */
export async function retryDeliveries(db: Database, which: string[] | 'all'): Promise<string[]> {
  const dead = eq(deliveries.status, 'dead')
  const queued = await db
    .update(deliveries)
    .set({ status: 'pending', attempts: 0, dueAt: sql`now()` })
    .where(which === 'all' ? dead : and(dead, inArray(deliveries.id, which)))
    .returning({ id: deliveries.id })
  return queued.map(({ id }) => id)
}
