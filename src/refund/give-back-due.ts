import pLimit from 'p-limit'
import type { Database } from '../database.ts'
import { takeDue } from '../due.ts'
import type { PaymentProvider } from '../payment/provider.ts'
import { giveBack, leaseSeconds } from './give-back.ts'
import { refunds } from './table.ts'

const batch = 8
const atOnce = 2
// So that the last of a batch ends within the lease, however slow the provider is.
const mostSeconds = 10

/** Makes all attempts to give money back that are due. Any number of processes may do so: each takes refunds that no other
 *  has, and those of one that died are taken again. */
export async function giveBackDue(db: Database, provider: PaymentProvider): Promise<void> {
  const limit = pLimit(atOnce)
  for (;;) {
    const due = await takeDue(db, refunds, { limit: batch, leaseSeconds })
    const made = await Promise.allSettled(
      due.map((refund) => limit(() => giveBack(db, provider, refund, mostSeconds))),
    )
    // What the database did not take is told of once nothing runs any more, and due again when its lease ends.
    for (const attempt of made) if (attempt.status === 'rejected') throw attempt.reason
    if (due.length < batch) return
  }
}
