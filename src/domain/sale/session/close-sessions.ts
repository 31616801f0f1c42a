import { and, asc, eq, lte, sql } from 'drizzle-orm'
import { nowMs } from '../../../data/leased-jobs.ts'
import type { Database } from '../../../database/database.ts'
import type { Services } from '../../../request/context.ts'
import { payments } from '../../payment/table.ts'
import { settlePayment } from '../settle/settle-payment.ts'

// At a time, because the provider has limits.
const batch = 8

// Later each time, by the age of the payment: a provider that is down, or a bank that takes days.
const again = sql`now() + least(interval '6 hours', greatest(interval '15 seconds', (now() - ${payments.createdAt}) / 8))`

type Taken = { id: string; ticketRateId: string; status: string; sessionId: string | null }

function takeSessions(db: Database, provider: string): Promise<Taken[]> {
  const due = db
    .select({ id: payments.id })
    .from(payments)
    .where(and(payments.sessionOpen, lte(payments.sessionDueAt, nowMs), eq(payments.provider, provider)))
    .orderBy(asc(payments.sessionDueAt))
    .limit(batch)
    .for('update', { skipLocked: true })
  return (
    db
      .update(payments)
      .set({ sessionDueAt: again })
      // An array, so that it is found once.
      .where(sql`${payments.id} = any(array(${due}))`)
      .returning({
        id: payments.id,
        ticketRateId: payments.ticketRateId,
        status: payments.status,
        sessionId: payments.sessionId,
      })
  )
}

async function endTaken(
  { db, provider }: Pick<Services, 'db' | 'provider'>,
  payment: Taken,
): Promise<() => Promise<unknown>> {
  const { id, status, sessionId } = payment
  if (!sessionId) throw new Error(`payment ${id} has an open session without an identifier`)
  const outcome = status === 'processing' ? await provider.look(sessionId) : await provider.close(sessionId)
  return async () => outcome && settlePayment(db, { payment, outcome, sessionId })
}

/** Ends the sessions of payments that are over or about to expire, and believes what the provider says they came to:
 *  who has paid in the last moment has paid. Asks how those stand that a bank is deciding. What the provider does not
 *  answer is done again, later each time; the hold expires meanwhile, and money that comes then is late. Any number of
 *  processes can do so at once. */
export async function closeSessions(services: Pick<Services, 'db' | 'provider'>): Promise<void> {
  for (;;) {
    const taken = await takeSessions(services.db, services.provider.name)
    const answers = await Promise.allSettled(taken.map((session) => endTaken(services, session)))
    const settled = await Promise.allSettled(
      answers.map((answer) => answer.status === 'fulfilled' && answer.value()),
    )
    for (const outcome of settled) if (outcome.status === 'rejected') throw outcome.reason
    for (const answer of answers) if (answer.status === 'rejected') throw answer.reason
    if (taken.length < batch) return
  }
}
