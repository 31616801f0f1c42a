import { claimDue } from '../../../data/leased-jobs.ts'
import type { Database } from '../../../database/database.ts'
import type { PaymentProvider } from '../../payment/provider.ts'
import { type Refund, refunds } from '../../refund/table.ts'
import { requestProviderRefund, leaseSeconds } from './request-provider-refund.ts'

// As many at once as there are connections for it.
const batch = 2
// So that a process that is to stop has not long to wait.
const maxBatches = 8

/** Money that did not match its payment and begins to go back. Amount in minor units. */
export type Mismatch = Pick<Refund, 'paymentId' | 'chargeId' | 'amount' | 'currency'> & { refundId: string }

const toMismatch = ({ id, paymentId, chargeId, amount, currency }: Refund): Mismatch => ({
  refundId: id,
  ...{ paymentId, chargeId, amount, currency },
})

/** Makes attempts to give money back that are due, until one is left undecided: a provider that is out of reach is not
 *  asked on and on. Any number of processes may do so: each takes refunds that no other has, and those of one that died
 *  are taken again. `onMismatch` is told of each refund whose reason is AMOUNT_MISMATCH, at its first attempt alone:
 *  a person is to find out why the provider took another amount than it was asked for. */
export async function processDueRefunds(
  db: Database,
  provider: PaymentProvider,
  onMismatch: (mismatch: Mismatch) => void = () => {},
): Promise<void> {
  for (let done = 0; done < maxBatches; done++) {
    const due = await claimDue(db, refunds, { limit: batch, leaseSeconds })
    for (const refund of due)
      if (refund.reason === 'AMOUNT_MISMATCH' && refund.attempts === 1) onMismatch(toMismatch(refund))
    const made = await Promise.allSettled(due.map((refund) => requestProviderRefund(db, provider, refund)))
    // What the database did not take is told of once nothing runs any more, and due again when its lease ends.
    for (const attempt of made) if (attempt.status === 'rejected') throw attempt.reason
    const decided = made.filter((attempt) => 'value' in attempt && attempt.value.status !== 'pending')
    if (decided.length < batch) return
  }
}
