import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Database } from '../../../database/database.ts'
import type { Session } from '../../payment/provider.ts'
import { type Payment, payments } from '../../payment/table.ts'

// Closes a session shortly before its hold ends, so that nobody can pay for places that are gone.
const closeBefore = sql`interval '5 seconds'`

/** Saves the session that a buyer is to pay in, even if the payment has ended in the meantime: an unknown
 *  open session would never be closed. If two sessions were opened at once, the first one saved wins. Returns
 *  the payment's current status and its session. */
export async function saveSession(
  db: Database,
  paymentId: string,
  provider: string,
  { id, url }: Session,
): Promise<Pick<Payment, 'status' | 'sessionId' | 'sessionUrl'>> {
  const columns = { status: payments.status, sessionId: payments.sessionId, sessionUrl: payments.sessionUrl }
  const [saved] = await db
    .update(payments)
    .set({
      provider,
      sessionId: id,
      sessionUrl: url,
      sessionOpen: true,
      sessionDueAt: sql`case when ${payments.status} = 'pending'
        then ${payments.expiresAt} - ${closeBefore} else now() end`,
    })
    .where(and(eq(payments.id, paymentId), isNull(payments.sessionId)))
    .returning(columns)
  if (saved) return saved
  const [earlier] = await db.select(columns).from(payments).where(eq(payments.id, paymentId))
  if (!earlier) throw new Error(`payment ${paymentId} not found`)
  return earlier
}
