import { claimDue } from '../../../data/leased-jobs.ts'
import type { Database } from '../../../database/database.ts'
import type { PaymentProvider } from '../../payment/provider.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { leaseSeconds, requestProviderRefund } from './request-provider-refund.ts'

// Refunds at a time: as many as refundTransaction allows.
const batchSize = 2
// Bounds a run, so that a shutdown does not wait long for it.
const maxBatches = 8

/** Charge that did not match its payment and is now being refunded. Amount in minor units. */
export type Mismatch = Pick<RefundAttempt, 'paymentId' | 'chargeId' | 'amount' | 'currency'> & {
  refundId: string
}

const toMismatch = ({ id, paymentId, chargeId, amount, currency }: RefundAttempt): Mismatch => ({
  refundId: id,
  ...{ paymentId, chargeId, amount, currency },
})

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
    for (const refund of due)
      if (refund.reason === 'AMOUNT_MISMATCH' && refund.attempts === 1) onMismatch(toMismatch(refund))
    const attempts = await Promise.allSettled(
      due.map((refund) => requestProviderRefund(db, provider, refund)),
    )
    // Database errors are thrown once all attempts have ended; their refunds are due again when the lease
    // ends.
    for (const attempt of attempts) if (attempt.status === 'rejected') throw attempt.reason
    const decided = attempts.filter((attempt) => 'value' in attempt && attempt.value.status !== 'pending')
    if (decided.length < batchSize) return
  }
}
