import { setTimeout as wait } from 'node:timers/promises'
import { and, eq } from 'drizzle-orm'
import { backoff, inSeconds } from '../../../data/leased-jobs.ts'
import { type Database, databaseCode, isUnavailable } from '../../../database/database.ts'
import type { PaymentProvider, RefundOutcome } from '../../payment/provider.ts'
import { charges } from '../../payment/table.ts'
import { type Refund, refunds } from '../../refund/table.ts'
import { refundTransaction } from './refund-transaction.ts'
import { settleRefund } from './settle-refund.ts'

/** How long whoever makes an attempt has it for itself: longer than any attempt takes. */
export const leaseSeconds = 60

// It is money: it is tried until it is decided, once an hour in the end.
const pauses = { first: 5, max: 3600 }

type Failure = Error & { code: string }
const failure = (code: string): Failure => Object.assign(new Error('the refund was not made'), { code })

async function within<T>(seconds: number, answer: Promise<T>): Promise<T> {
  const answered = new AbortController()
  const { signal } = answered
  const late = wait(seconds * 1000, undefined, { signal }).then(() => Promise.reject(failure('TIMEOUT')))
  try {
    return await Promise.race([answer, late])
  } finally {
    answered.abort()
  }
}

/** Makes one attempt to give money back, outside any transaction, and settles what the provider says within so many
 *  seconds. Where it says nothing, or takes its time, the refund is due again later: under the same identifier, so that
 *  the provider does it once. Gives the refund as it is now. */
export async function giveBack(
  db: Database,
  provider: PaymentProvider,
  refund: Refund,
  maxSeconds = 5,
): Promise<Refund> {
  const [charge] = await db.select().from(charges).where(eq(charges.id, refund.chargeId))
  if (!charge) throw new Error('a refund is of a charge')
  const { id, amount, currency } = refund
  const ask = async (): Promise<RefundOutcome> => {
    // Only who took it can give it back: another would not know it, or only pretend.
    if (charge.provider !== provider.name) throw failure('OTHER_PROVIDER')
    return provider.refund({ id, charge: charge.reference, amount, currency })
  }
  let outcome: RefundOutcome
  try {
    outcome = await within(maxSeconds, ask())
  } catch (error) {
    return postpone(db, refund, { lastError: databaseCode(error) ?? 'UNKNOWN' })
  }
  if (outcome.kind === 'pending')
    return postpone(db, refund, { lastError: null, reference: outcome.reference })
  const decided = outcome
  return (await refundTransaction(db, (tx) => settleRefund(tx, { id }, decided))) ?? refund
}

/** The first attempt, while the client waits that asked for the refund. It is written down, so where the database can't
 *  settle it now the client is told that it is pending, and not to ask again: others settle it later. */
export const giveBackAtOnce = (db: Database, provider: PaymentProvider, refund: Refund): Promise<Refund> =>
  giveBack(db, provider, refund).catch((error: unknown) => {
    if (isUnavailable(error)) return refund
    throw error
  })

// Unless somebody else has decided it meanwhile: then it stays as it is.
async function postpone(
  db: Database,
  refund: Refund,
  told: Partial<Pick<Refund, 'lastError' | 'reference'>>,
): Promise<Refund> {
  const isThis = eq(refunds.id, refund.id)
  const [postponed] = await db
    .update(refunds)
    .set({ ...told, dueAt: inSeconds(backoff(refund.attempts, pauses)) })
    .where(and(isThis, eq(refunds.status, 'pending')))
    .returning()
  if (postponed) return postponed
  const [decided] = await db.select().from(refunds).where(isThis)
  return decided ?? refund
}
