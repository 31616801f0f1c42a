import { batchByKey, deferred } from '../../../data/batch-queue.ts'
import { createBulkhead } from '../../../data/bulkhead.ts'
import { type Database, isTransient, isUnavailable } from '../../../database/database.ts'
import { perDatabase } from '../../../database/per-database.ts'
import { busy } from '../../../shared/errors.ts'
import { isFast } from '../../../shared/fast.ts'
import { stockId } from '../../ticket-rate/table.ts'
import { settleGroup } from './settle-group.ts'
import type { Settlement, SettlementResult } from './settlement.ts'

// Two groups and one deferred settlement at a time: a rush of payments leaves the other connections to
// everybody else.
const limits = { maxTogether: 64, maxMixed: 0, maxAlone: 2, maxOfKey: 1, maxWaiting: 2_000 }

const queuesOf = perDatabase((db) => {
  const queue = batchByKey<Settlement, SettlementResult | typeof deferred>(
    {
      name: 'payments',
      alone: (group) => settleGroup(db, group, 'skip'),
      concernsAll: (error) => isUnavailable(error) && !isTransient(error),
      busy: () => busy('Too many payments of this rate at once. Try again.'),
    },
    limits,
  )
  return { queue, runAlone: createBulkhead({ maxAtOnce: 1, maxWaiting: 2_000 }) }
})

/** Settles a payment with an outcome from its provider or its buyer, and returns its current status.
 *  Settlements that arrive while others of their rate and mode run are batched, in order, into one transaction; each
 *  is atomic and has the outcome that it would have alone. A payment that is locked elsewhere, a second
 *  settlement of one, and a late or mismatching charge are deferred and settled one by one. Transitions that
 *  the status does not allow change nothing, but a charge is never lost: see receiveMoney. Refuses: BUSY if
 *  too many wait. */
export async function settlePayment(db: Database, settlement: Settlement): Promise<SettlementResult> {
  const { queue, runAlone } = queuesOf(db)
  const { ticketRateId, mode } = settlement.payment
  // Paying takes its locks in another order than ending.
  const kind = settlement.outcome.kind === 'paid' ? 'paid' : 'ended'
  const settled = !isFast('settle-together')
    ? deferred
    : await queue(`${stockId(mode, ticketRateId)} ${kind}`, settlement)
  if (settled !== deferred) return settled
  return runAlone(async () => {
    const [exact] = await settleGroup(db, [settlement], 'wait')
    if (!exact || exact === deferred)
      throw new Error(`payment ${settlement.payment.id} was deferred although it was settled alone`)
    return exact
  })
}
