import { asc, eq } from 'drizzle-orm'
import type { Database } from '../../database/database.ts'
import { type Delivery, deliveries } from './table.ts'

/** Lists deliveries with a status, oldest first, without personal data. */
export const listDeliveries = (db: Database, status: Delivery['status'], limit: number) =>
  db
    .select({
      id: deliveries.id,
      paymentId: deliveries.paymentId,
      medium: deliveries.medium,
      status: deliveries.status,
      attempts: deliveries.attempts,
      lastError: deliveries.lastError,
      createdAt: deliveries.createdAt,
      dueAt: deliveries.dueAt,
    })
    .from(deliveries)
    .where(eq(deliveries.status, status))
    .orderBy(asc(deliveries.createdAt), asc(deliveries.medium), asc(deliveries.id))
    .limit(limit)

export type ListedDelivery = Awaited<ReturnType<typeof listDeliveries>>[number]
