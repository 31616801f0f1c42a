import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import { nowMs } from '../../../data/leased-jobs.ts'
import type { Services } from '../../../request/context.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { settlePayment } from '../settle/settle-payment.ts'

/** What the provider said of a payment: how that stands now, that its buyer is still at it, or nothing, because it was
 *  asked a moment ago, or because of `failure`. */
export type Asked = { status: Payment['status']; isOpen: boolean; failure?: unknown }

const isTime = or(
  isNull(payments.sessionAskedAt),
  lte(payments.sessionAskedAt, sql`${nowMs} - interval '3 seconds'`),
)

/** What a provider answered, or what kept it from that. What its answer leads to is no part of it: that must not be
 *  taken for an answer that never came. */
export const answerOf = <T>(asked: Promise<T>): Promise<{ outcome: T } | { failure: unknown }> =>
  asked.then(
    (outcome) => ({ outcome }),
    (failure: unknown) => ({ failure }),
  )

/** The session that a payment's provider has open; null as well where another one took the money when it was made. */
export const openSessionOf = (
  { sessionId, sessionOpen, provider }: Payment,
  { name }: Services['provider'],
): string | null => (sessionOpen && provider === name ? sessionId : null)

/** Asks the provider how an open session stands, and lets its payment become that: for a buyer who is back before the
 *  provider has told. Asked only every few seconds, however often the buyer looks, and in whichever process. */
export async function refreshSession(
  { db, provider }: Pick<Services, 'db' | 'provider'>,
  payment: Payment,
): Promise<Asked> {
  const { id, status } = payment
  const sessionId = openSessionOf(payment, provider)
  if (!sessionId) return { status, isOpen: false }
  const [mayAsk] = await db
    .update(payments)
    .set({ sessionAskedAt: sql`now()` })
    .where(and(eq(payments.id, id), eq(payments.sessionOpen, true), isTime))
    .returning({ id: payments.id })
  if (!mayAsk) return { status, isOpen: false }
  const answer = await answerOf(provider.look(sessionId))
  if ('failure' in answer) return { status, isOpen: false, failure: answer.failure }
  if (!answer.outcome) return { status, isOpen: true }
  const settled = await settlePayment(db, { payment, outcome: answer.outcome, sessionId })
  return { status: settled.status, isOpen: false }
}
