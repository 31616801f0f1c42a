import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../src/database/database.ts'
import { holds, isOfHold, isOfSession, openSessions } from '../../src/domain/payment/queue/table.ts'
import { payments } from '../../src/domain/payment/table.ts'

// Tests move times of payments. What is queued of them follows by a trigger for the release before, but not on a
// cluster, which has no triggers.

/** Ends the holds of payments that match a condition. */
export async function endHolds(db: Database, condition: SQL): Promise<void> {
  await db.update(payments).set({ expiresAt: sql`now() - interval '1 millisecond'` }).where(condition)
  await db
    .update(holds)
    .set({ expiresAt: sql`${payments.expiresAt}` })
    .from(payments)
    .where(and(isOfHold, condition, ne(holds.expiresAt, payments.expiresAt)))
}

/** Makes all open sessions due to be closed. */
export async function endSessions(db: Database): Promise<void> {
  await db.update(payments).set({ sessionDueAt: sql`now()` }).where(eq(payments.sessionOpen, true))
  await db
    .update(openSessions)
    .set({ dueAt: sql`now()` })
    .from(payments)
    .where(and(isOfSession, payments.sessionOpen))
}
