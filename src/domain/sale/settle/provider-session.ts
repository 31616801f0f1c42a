import { and, eq, isNull, sql } from 'drizzle-orm'
import { claimByOrganization, findDue } from '../../../engine/data/leased-jobs.ts'
import { nowMs, secondsFromNow } from '../../../engine/database/clock.ts'
import type { Database } from '../../../engine/database/database.ts'
import { transaction } from '../../../engine/database/transaction.ts'
import type { Services } from '../../caller/context.ts'
import { isPayment, type PaymentName } from '../../payment/lock-payment.ts'
import { askProvider } from '../../payment/open-provider.ts'
import { failureCode, type PaymentProvider, type PaymentSession } from '../../payment/provider.ts'
import { queueSession } from '../../payment/queue/follow-payments.ts'
import { isOfSession, openSessions } from '../../payment/queue/table.ts'
import { type Payment, type PaymentOfRate, payments } from '../../payment/table.ts'
import { settlePayment } from './settle-payment.ts'
import { findPaymentToSettle } from './settlement.ts'

/** Saves the session that a buyer is to pay in, even if the payment has ended in the meantime: an unknown
 *  open session would never be closed. If two sessions were opened at once, the first one saved wins. Returns
 *  the payment's current status and its session. */
export const saveSession = (db: Database, payment: PaymentName, provider: string, session: PaymentSession) =>
  transaction(db, async (tx) => {
    const [saved] = await tx
      .update(payments)
      .set({ provider, sessionId: session.id, sessionUrl: session.url, sessionOpen: true })
      .where(and(isPayment(payment), isNull(payments.sessionId)))
      .returning()
    if (saved) {
      await queueSession(tx, saved)
      return saved
    }
    const [earlier] = await tx.select().from(payments).where(isPayment(payment))
    if (!earlier) throw new Error(`payment ${payment.id} not found`)
    return earlier
  })

const mayAskAgain = sql`coalesce(${payments.sessionAskedAt} <= ${nowMs} - interval '3 seconds', true)`

/** Returns the id of a payment's open session. Null, too, if it is with another provider than the current
 *  one. */
export const openSessionOf = ({ sessionId, sessionOpen, provider }: Payment, { name }: PaymentProvider) =>
  sessionOpen && provider === name ? sessionId : null

/** Asks the provider for the state of an open session and settles the payment accordingly, for buyers who
 *  return before the provider's event arrives. Asks once in three seconds at most, however often the buyer
 *  reloads, in any process. Returns the current status, `isOpen` if the provider says that the session still waits for
 *  the buyer, and `failure` if the call failed. */
export async function refreshSession(
  { db, provider }: Pick<Services, 'db' | 'provider'>,
  payment: PaymentOfRate,
): Promise<{ status: Payment['status']; isOpen: boolean; failure?: unknown }> {
  const { status } = payment
  const sessionId = openSessionOf(payment, provider)
  if (!sessionId) return { status, isOpen: false }
  const [claimed] = await db
    .update(payments)
    .set({ sessionAskedAt: sql`now()` })
    .where(and(isPayment(payment), eq(payments.sessionOpen, true), mayAskAgain))
    .returning({ id: payments.id })
  if (!claimed) return { status, isOpen: false }
  // Settled outside, so that an error of ours does not pass for a failure of the provider.
  const [answer] = await Promise.allSettled([
    askProvider(provider, payment, () => provider.getSession(sessionId)),
  ])
  if (answer.status === 'rejected') return { status, isOpen: false, failure: answer.reason }
  if (!answer.value) return { status, isOpen: true }
  const settled = await settlePayment(db, { payment, outcome: answer.value, sessionId })
  return { status: settled.status, isOpen: false }
}

// Calls at a time: providers limit their rate.
const batchSize = 8

// Retries back off with the age of the payment, for a provider that is down or a bank that takes days.
const retryAt = secondsFromNow(
  sql`least(6 * 3600, greatest(15, extract(epoch from (now() - ${payments.createdAt})) / 8))`,
)

const { id, organizationId, status } = payments
const { sessionId, attempts } = openSessions

async function claimSessions(db: Database, provider: string) {
  const isDue = sql`${openSessions.provider} = ${provider} and ${openSessions.dueAt} <= ${nowMs}`
  return claimByOrganization(
    await findDue(db, openSessions, openSessions.dueAt, isDue, batchSize),
    async (ofOrganization, { length }) => {
      const isOwnDue = and(eq(openSessions.organizationId, ofOrganization), isDue)
      // An array, so that the subquery runs once.
      const isFree = sql`${openSessions.sessionId} = any(array(select ${openSessions.sessionId} from ${openSessions}
      where ${isOwnDue} order by ${openSessions.dueAt} limit ${length} for update skip locked))`
      const isOpen = and(eq(payments.organizationId, ofOrganization), isOfSession, payments.sessionOpen)
      return db
        .update(openSessions)
        .set({ dueAt: retryAt })
        .from(payments)
        .where(and(isOwnDue, isOpen, isFree))
        .returning({ id, organizationId, status, sessionId, attempts })
    },
  )
}

// Returns a function that settles the outcome, so that all calls to the provider end before anything is
// settled; null if the call failed, which is noted.
async function closeAtProvider(
  { db, provider }: Pick<Services, 'db' | 'provider'>,
  { id, organizationId, status, sessionId, attempts }: Awaited<ReturnType<typeof claimSessions>>[number],
): Promise<(() => Promise<unknown>) | null> {
  const isThis = and(eq(openSessions.organizationId, organizationId), eq(openSessions.sessionId, sessionId))
  const note = (set: { attempts: number; lastError: string | null }) =>
    db
      .update(openSessions)
      .set(set)
      .where(and(isThis, eq(openSessions.provider, provider.name)))
  const ask = () =>
    status === 'processing' ? provider.getSession(sessionId) : provider.expireSession(sessionId)
  const [answer] = await Promise.allSettled([ask()])
  if (answer.status === 'rejected') {
    await note({ attempts: attempts + 1, lastError: failureCode(answer.reason) })
    return null
  }
  const { value: outcome } = answer
  return async () => {
    if (attempts > 0) await note({ attempts: 0, lastError: null })
    const payment = outcome && (await findPaymentToSettle(db, organizationId, id))
    return payment && settlePayment(db, { payment, outcome, sessionId })
  }
}

/** Closes the sessions of payments that have ended or are about to expire, and settles what the provider
 *  says: a buyer who paid at the last moment has paid. A session that a bank is still deciding is looked up,
 *  not closed. Retries failed calls with a growing backoff, and calls no more in a run in which one has failed; the hold
 *  expires in the meantime, and a charge after that is late. Safe to run in many processes. */
export async function closeSessions(services: Pick<Services, 'db' | 'provider'>): Promise<void> {
  for (;;) {
    const claimed = await claimSessions(services.db, services.provider.name)
    const answers = await Promise.allSettled(claimed.map((session) => closeAtProvider(services, session)))
    const settled = await Promise.allSettled(
      answers.map((answer) => answer.status === 'fulfilled' && answer.value?.()),
    )
    for (const result of [...settled, ...answers]) if (result.status === 'rejected') throw result.reason
    const hasFailed = answers.some((answer) => 'value' in answer && answer.value === null)
    if (hasFailed || claimed.length < batchSize) return
  }
}
