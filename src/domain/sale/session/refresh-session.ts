import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { nowMs } from '../../../database/clock.ts'
import type { Services } from '../../../request/context.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { settlePayment } from '../settle/settle-payment.ts'

/** Current status of a payment after asking the provider. `isOpen` if the provider says that its session
 *  still waits for the buyer, `failure` if the call failed. */
export type RefreshedSession = { status: Payment['status']; isOpen: boolean; failure?: unknown }

const mayAskAgain = or(
  isNull(payments.sessionAskedAt),
  lte(payments.sessionAskedAt, sql`${nowMs} - interval '3 seconds'`),
)

/** Turns the rejection of a provider call into a value. Await it before settling the outcome: an error of
 *  ours must not pass for a failure of the provider. */
export const catchFailure = <T>(call: Promise<T>): Promise<{ outcome: T } | { failure: unknown }> =>
  call.then(
    (outcome) => ({ outcome }),
    (failure: unknown) => ({ failure }),
  )

/** Returns the id of a payment's open session. Null, too, if it is with another provider than the current
 *  one. */
export const openSessionOf = (
  { sessionId, sessionOpen, provider }: Payment,
  { name }: Services['provider'],
): string | null => (sessionOpen && provider === name ? sessionId : null)

/** Asks the provider for the state of an open session and settles the payment accordingly, for buyers who
 *  return before the provider's event arrives. Asks once in three seconds at most, however often the buyer
 *  reloads, in any process. */
export async function refreshSession(
  { db, provider }: Pick<Services, 'db' | 'provider'>,
  payment: Payment,
): Promise<RefreshedSession> {
  const { id, status } = payment
  const sessionId = openSessionOf(payment, provider)
  if (!sessionId) return { status, isOpen: false }
  const [claimed] = await db
    .update(payments)
    .set({ sessionAskedAt: sql`now()` })
    .where(and(eq(payments.id, id), eq(payments.sessionOpen, true), mayAskAgain))
    .returning({ id: payments.id })
  if (!claimed) return { status, isOpen: false }
  const answer = await catchFailure(provider.getSession(sessionId))
  if ('failure' in answer) return { status, isOpen: false, failure: answer.failure }
  if (!answer.outcome) return { status, isOpen: true }
  const settled = await settlePayment(db, { payment, outcome: answer.outcome, sessionId })
  return { status: settled.status, isOpen: false }
}
