import { and, eq } from 'drizzle-orm'
import { withTimeout } from '../../../engine/base/timers.ts'
import { rowsOf } from '../../../engine/data/json-rows.ts'
import { backoff, claimDue } from '../../../engine/data/leased-jobs.ts'
import { ownById, query } from '../../../engine/data/query.ts'
import { inSeconds } from '../../../engine/database/clock.ts'
import type { Database } from '../../../engine/database/database.ts'
import { atOnce } from '../../../engine/database/transaction.ts'
import { askProvider, providerOf } from '../../payment/open-provider.ts'
import { failureCode, type PaymentProvider } from '../../payment/provider.ts'
import { charges } from '../../payment/table.ts'
import { isRefund, type RefundAttempt, refunds } from '../../refund/table.ts'
import { settleRefund } from './settle-refund.ts'

/** Lease of a refund attempt; longer than any attempt takes. */
export const leaseSeconds = 60

// Retried until the provider decides, in the end once an hour: it is the buyer's money.
const retrySeconds = { first: 5, max: 3600 }

const findCharge = query('charge_of_refund', {
  rows: rowsOf({ provider: charges.provider, reference: charges.reference }),
  query: ownById(charges),
})

// Outcome of a call that has decided nothing.
const undecided = (lastError: string) => ({ kind: 'pending' as const, lastError })

/** Requests a refund from the provider, outside any transaction, and settles its outcome. If the provider
 *  fails, takes longer than `maxSeconds`, or has not decided yet, the refund becomes due again later. Each
 *  attempt uses the refund's id, so that the provider refunds once. Returns the refund's current row. */
export async function requestProviderRefund(
  db: Database,
  liveProvider: PaymentProvider,
  refund: RefundAttempt,
  maxSeconds = 5,
): Promise<RefundAttempt> {
  const provider = providerOf({ provider: liveProvider }, refund)
  const [charge] = await findCharge(db, { organizationId: refund.organizationId, keys: [refund.chargeId] })
  if (!charge) throw new Error(`charge ${refund.chargeId} of refund ${refund.id} not found`)
  const { id, organizationId, amount, currency } = refund
  // Only the provider that took the charge can refund it. Another would not know it, and the sandbox would
  // pretend to.
  const call = async () =>
    charge.provider === provider.name
      ? askProvider(provider, refund, () =>
          provider.refund({ id, organizationId, charge: charge.reference, amount, currency }),
        )
      : undecided('OTHER_PROVIDER')
  const outcome = await withTimeout(maxSeconds * 1000, call(), () => undecided('TIMEOUT')).catch(
    (error: unknown) => undecided(failureCode(error)),
  )
  if (outcome.kind === 'pending') {
    const { kind: _, ...known } = outcome
    return postpone(db, refund, { lastError: null, ...known })
  }
  return settleRefund(db, { refund, outcome })
}

// Leaves a refund alone that was decided in the meantime.
async function postpone(
  db: Database,
  refund: RefundAttempt,
  update: Partial<Pick<RefundAttempt, 'lastError' | 'reference'>>,
): Promise<RefundAttempt> {
  const isThis = isRefund(refund)
  const [postponed] = await db
    .update(refunds)
    .set({ ...update, dueAt: inSeconds(backoff(refund.attempts, retrySeconds)) })
    .where(and(isThis, eq(refunds.status, 'pending')))
    .returning()
  if (postponed) return postponed
  const [decided] = await db.select().from(refunds).where(isThis)
  return decided ?? refund
}

// Refunds at a time: as many of an owner as refundTransaction allows.
const batchSize = 2
// Bounds a run, so that a shutdown does not wait long for it.
const maxBatches = 8

/** Charge that did not match its payment and is now being refunded. Amount in minor units. */
export type Mismatch = Pick<RefundAttempt, 'paymentId' | 'chargeId' | 'amount' | 'currency'> & {
  refundId: string
}

/** Attempts refunds that are due, until one stays undecided: an unreachable provider is not called again and
 *  again. Safe to run in many processes: each claims different refunds, and a lease returns those of a
 *  process that died. Calls `onMismatch` on the first attempt of each refund with the reason AMOUNT_MISMATCH,
 *  so that an operator can find out why the provider took another amount than requested. */
export async function processDueRefunds(
  db: Database,
  provider: PaymentProvider,
  onMismatch: (mismatch: Mismatch) => void = () => {},
): Promise<void> {
  for (let done = 0; done < maxBatches; done++) {
    const due = await claimDue(db, refunds, { limit: batchSize, leaseSeconds })
    for (const { id, reason, attempts, paymentId, chargeId, amount, currency } of due)
      if (reason === 'AMOUNT_MISMATCH' && attempts === 1)
        onMismatch({ refundId: id, paymentId, chargeId, amount, currency })
    // Refunds whose attempts fail by an error of the database are due again when the lease ends.
    const attempted = await atOnce(...due.map((refund) => requestProviderRefund(db, provider, refund)))
    if (attempted.filter(({ status }) => status !== 'pending').length < batchSize) return
  }
}
