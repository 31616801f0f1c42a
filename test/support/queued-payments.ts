import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import type { Database } from '../../src/database/database.ts'
import { holds, isOfHold, openSessions } from '../../src/domain/payment/queue/table.ts'
import { payments } from '../../src/domain/payment/table.ts'

// Tests move times of payments. What is queued of them follows by a trigger for the release before, but not on a
// cluster, which has no triggers.

/** Sets columns of payments that match a condition. Holds are queued by their end if that is moved, and sessions by
 *  the time when they are due. */
export async function movePayments(
  db: Database,
  condition: SQL,
  values: PgUpdateSetSource<typeof payments>,
): Promise<void> {
  await db.update(payments).set(values).where(condition)
  if (values.expiresAt)
    await db
      .update(holds)
      .set({ expiresAt: sql`${payments.expiresAt}` })
      .from(payments)
      .where(and(isOfHold, condition, ne(holds.expiresAt, payments.expiresAt)))
  if (values.sessionDueAt)
    await db.execute(sql`insert into ${openSessions} (organization_id, provider, session_id, payment_id, due_at)
    select organization_id, provider, session_id, id, session_due_at from ${payments}
    where ${payments.sessionOpen} and ${condition}
    on conflict (session_id, provider, organization_id) do update set due_at = excluded.due_at`)
}

/** Ends the holds of payments that match a condition. */
export const endHolds = (db: Database, condition: SQL): Promise<void> =>
  movePayments(db, condition, { expiresAt: sql`now() - interval '1 millisecond'` })

/** Makes all open sessions due to be closed. */
export const endSessions = (db: Database): Promise<void> =>
  movePayments(db, eq(payments.sessionOpen, true), { sessionDueAt: sql`now()` })
