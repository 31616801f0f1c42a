import { batchByKey, deferred } from '../../../data/batch-queue.ts'
import { createBulkhead } from '../../../data/bulkhead.ts'
import { type Database, isTransient, isUnavailable } from '../../../database/database.ts'
import { perDatabase } from '../../../database/per-database.ts'
import { busy } from '../../../shared/errors.ts'
import { isFast } from '../../../shared/fast.ts'
import { settleGroup } from './settle-group.ts'
import type { Settled, Settlement } from './settlement.ts'

// Two groups and one by itself at a time: a rush of money leaves the other connections to everybody else.
const limits = { maxTogether: 64, maxMixed: 0, maxAlone: 2, maxOfKey: 1, maxWaiting: 2_000 }
const exactLimits = { maxAtOnce: 1, maxWaiting: 2_000 }

const createQueue = (db: Database) => {
  const queue = batchByKey<Settlement, Settled | typeof deferred>(
    {
      alone: (group) => settleGroup(db, group, 'skip'),
      concernsAll: (error) => isUnavailable(error) && !isTransient(error),
      busy: () => busy('Too many payments of this rate at once. Try again.'),
    },
    limits,
  )
  const exactly = createBulkhead(exactLimits)
  return { queue, exactly }
}

const queueOf = perDatabase(createQueue)

/** Lets a payment become what its provider or its buyer says. Settlements that come while others of their rate run are
 *  settled together, in order, in one transaction; each is all or nothing by itself, and has the outcome that it would
 *  have alone. What can't be decided beside others waits for them and is settled by itself: a payment that somebody else
 *  has locked, the second word about one, and late money. Gives how the payment stands now. What it may not become it
 *  doesn't, but money is never lost: see receiveMoney. Refuses: BUSY, where too many wait. */
export async function settlePayment(db: Database, settlement: Settlement): Promise<Settled> {
  const { queue, exactly } = queueOf(db)
  // Money is locked for and counted in another order than places that are given back.
  const kind = settlement.outcome.kind === 'paid' ? 'paid' : 'ended'
  const settled = !isFast('settle-together')
    ? deferred
    : await queue(`${settlement.payment.ticketRateId} ${kind}`, settlement)
  if (settled !== deferred) return settled
  return exactly(async () => {
    const [exact] = await settleGroup(db, [settlement], 'wait')
    if (!exact || exact === deferred) throw new Error('a payment was deferred that was settled by itself')
    return exact
  })
}
