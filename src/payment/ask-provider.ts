import { and, eq, isNull, lte, or, sql } from 'drizzle-orm'
import type { House } from '../context.ts'
import { settlePaymentSession } from './settle-session.ts'
import { type Payment, payments } from './table.ts'

/** What the provider said of a payment: how that stands now, that its buyer is still at it, or nothing, because it was
 *  asked a moment ago, or because of `failure`. */
export type Asked = { status: Payment['status']; isOpen: boolean; failure?: unknown }

const isTime = or(
  isNull(payments.sessionAskedAt),
  lte(payments.sessionAskedAt, sql`now() - interval '3 seconds'`),
)

/** Asks the provider how an open session stands, and lets its payment become that: for a buyer who is back before the
 *  provider has told. Asked only every few seconds, however often the buyer looks, and in whichever process. */
export async function askProvider(
  { db, provider }: Pick<House, 'db' | 'provider'>,
  { id, status, sessionId, sessionOpen }: Payment,
): Promise<Asked> {
  const unknown: Asked = { status, isOpen: false }
  if (!sessionOpen || !sessionId) return unknown
  const [mayAsk] = await db
    .update(payments)
    .set({ sessionAskedAt: sql`now()` })
    .where(and(eq(payments.id, id), eq(payments.sessionOpen, true), isTime))
    .returning({ id: payments.id })
  if (!mayAsk) return unknown
  try {
    const outcome = await provider.look(sessionId)
    if (!outcome) return { status, isOpen: true }
    return { status: await settlePaymentSession(db, id, sessionId, outcome), isOpen: false }
  } catch (failure) {
    return { ...unknown, failure }
  }
}
