import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Database } from '../../../database/database.ts'
import type { Session } from '../../payment/provider.ts'
import { type Payment, payments } from '../../payment/table.ts'

// A provider that answers is told in time, so that a hold never ends while somebody can still pay.
const beforeHoldEnds = sql`interval '5 seconds'`

/** Notes the session that a buyer is to pay in, whatever became of the payment while it was made: an open session that
 *  nobody knows of would never be ended. Gives how the payment stands now, and the address of its session; that is
 *  another one's where two were made at once. */
export async function saveSession(
  db: Database,
  paymentId: string,
  provider: string,
  { id, url }: Session,
): Promise<Pick<Payment, 'status' | 'sessionId' | 'sessionUrl'>> {
  const known = { status: payments.status, sessionId: payments.sessionId, sessionUrl: payments.sessionUrl }
  const [kept] = await db
    .update(payments)
    .set({
      provider,
      sessionId: id,
      sessionUrl: url,
      sessionOpen: true,
      sessionDueAt: sql`case when ${payments.status} = 'pending'
        then ${payments.expiresAt} - ${beforeHoldEnds} else now() end`,
    })
    .where(and(eq(payments.id, paymentId), isNull(payments.sessionId)))
    .returning(known)
  if (kept) return kept
  const [other] = await db.select(known).from(payments).where(eq(payments.id, paymentId))
  if (!other) throw new Error('a payment that has a session exists')
  return other
}
