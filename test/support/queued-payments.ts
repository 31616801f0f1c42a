import { and, ne, type SQL, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import { expiries, isOfExpiry, openSessions } from '../../src/domain/payment/queue/table.ts'
import { payments } from '../../src/domain/payment/table.ts'
import type { Database } from '../../src/engine/database/database.ts'

/** Sets columns of payments that match a condition. Where the end of their holds is moved, what is queued of them
 *  follows, as the service does it. */
export async function movePayments(
  db: Database,
  condition: SQL,
  values: PgUpdateSetSource<typeof payments>,
): Promise<void> {
  await db.update(payments).set(values).where(condition)
  if (values.expiresAt)
    await db
      .update(expiries)
      .set({ expiresAt: sql`${payments.expiresAt}` })
      .from(payments)
      .where(and(isOfExpiry, condition, ne(expiries.expiresAt, payments.expiresAt)))
}

/** Ends the holds of payments that match a condition. */
export const endHolds = (db: Database, condition: SQL): Promise<void> =>
  movePayments(db, condition, { expiresAt: sql`now() - interval '1 millisecond'` })

/** Makes all open sessions due to be closed. */
export async function endSessions(db: Database): Promise<void> {
  await db.update(openSessions).set({ dueAt: sql`now()` })
}
