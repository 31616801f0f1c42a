import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { nowMs } from '../../../database/clock.ts'
import type { Database } from '../../../database/database.ts'
import type { Services } from '../../../request/context.ts'
import { payments } from '../../payment/table.ts'
import { settlePayment } from '../settle/settle-payment.ts'

// Calls at a time: providers limit their rate.
const batchSize = 8

// Retries back off with the age of the payment, for a provider that is down or a bank that takes days.
const retryAt = sql`now() + least(interval '6 hours', greatest(interval '15 seconds', (now() - ${payments.createdAt}) / 8))`

type ClaimedSession = { id: string; ticketRateId: string; status: string; sessionId: string | null }

function claimSessions(db: Database, provider: string): Promise<ClaimedSession[]> {
  const due = db
    .select({ id: payments.id })
    .from(payments)
    .where(and(payments.sessionOpen, lte(payments.sessionDueAt, nowMs), eq(payments.provider, provider)))
    .orderBy(asc(payments.sessionDueAt))
    .limit(batchSize)
    .for('update', { skipLocked: true })
  return (
    db
      .update(payments)
      .set({ sessionDueAt: retryAt })
      // An array, so that the subquery runs once.
      .where(sql`${payments.id} = any(array(${due}))`)
      .returning({
        id: payments.id,
        ticketRateId: payments.ticketRateId,
        status: payments.status,
        sessionId: payments.sessionId,
      })
  )
}

// Returns a function that settles the outcome, so that all calls to the provider end before anything is
// settled.
async function closeAtProvider(
  { db, provider }: Pick<Services, 'db' | 'provider'>,
  payment: ClaimedSession,
): Promise<() => Promise<unknown>> {
  const { id, status, sessionId } = payment
  if (!sessionId) throw new Error(`payment ${id} has an open session without an identifier`)
  const outcome =
    status === 'processing' ? await provider.getSession(sessionId) : await provider.expireSession(sessionId)
  return async () => outcome && settlePayment(db, { payment, outcome, sessionId })
}

/** Closes the sessions of payments that have ended or are about to expire, and settles what the provider
 *  says: a buyer who paid at the last moment has paid. A session that a bank is still deciding is looked up,
 *  not closed. Retries failed calls with a growing backoff; the hold expires in the meantime, and a charge
 *  after that is late. Safe to run in many processes. */
export async function closeSessions(services: Pick<Services, 'db' | 'provider'>): Promise<void> {
  for (;;) {
    const claimed = await claimSessions(services.db, services.provider.name)
    const answers = await Promise.allSettled(claimed.map((session) => closeAtProvider(services, session)))
    const settled = await Promise.allSettled(
      answers.map((answer) => answer.status === 'fulfilled' && answer.value()),
    )
    for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
    if (claimed.length < batchSize) return
  }
}
