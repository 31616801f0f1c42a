// Holds stock in three steps, from the fastest to the exact one:
//
//   holdTogether(job) ──► queue, by rate
//      │
//      ▼  try together
//   1. holdManyRates, `optimisticOfMany`:     all idle rates in one statement ──────────► held
//      │
//      ▼  what is locked, or may not fit, waits alone
//   2. holdOneRate, `optimistic`: the jobs of one rate in one statement ────────────────► held
//      │
//      ▼  what doesn't fit is decided one by one
//   3. holdStock, `exact`: job by job, under the lock of the rate's stock ──────────────► held, refused,
//                                                                                         or planned again
//
// Steps 1 and 2 only add speed. Slow form: (db, job) => holdStock(db, [job]).then(([outcome]) => outcome)
//
// A rule across checkouts belongs in step 3, under the lock, and nowhere else: see `holdStock`, `needsExact`.

import { batchByKey, deferred } from '../../../../data/batch-queue.ts'
import { announce } from '../../../../database/announcements.ts'
import { type Database, isDuplicate, isTransient, isUnavailable } from '../../../../database/database.ts'
import { isDistributed } from '../../../../database/distributed.ts'
import { perDatabase } from '../../../../database/per-database.ts'
import { busy } from '../../../../shared/errors.ts'
import { isFast } from '../../../../shared/fast.ts'
import { type Mode, perMode } from '../../../../shared/mode.ts'
import { rateInMode } from '../../../ticket-rate/table.ts'
import { type Checkout, type HoldJob, isPaidAtOnce } from './hold-rows.ts'
import { writeHolds } from './hold-statement.ts'
import { type HoldOutcome, holdStock } from './hold-stock.ts'

// Two mixed runs write while the process prepares the next one. More would only make each of them smaller,
// and the fixed cost of a run equals that of eight rows. Runs of one rate may wait for a lock: four of them
// leave connections for everybody else.
const limits = { maxTogether: 64, maxMixed: 2, maxAlone: 4, maxOfKey: 2, maxWaiting: 2_000 }

const isCheckout = (outcome: Checkout | null): outcome is Checkout => outcome !== null

// Jobs that only `holdStock` may decide: those that it pays in the same transaction. A rule across checkouts
// adds the jobs that it applies to.
const needsExact = isPaidAtOnce

// Rates of one organization share its discounts, and a statement can move a counter for one rate only.
const hasDiscount = ({ plan }: HoldJob): boolean => plan.tickets.some(({ discountId }) => discountId !== null)

const rateStockOf = (jobs: HoldJob[]) =>
  new Set(jobs.map(({ plan, seller }) => rateInMode(seller.mode, plan.rate.id)))

/** Holds jobs of one rate: in one statement if they leave something of it, which they nearly always do, else
 *  one by one. */
async function holdOneRate(db: Database, jobs: HoldJob[]): Promise<HoldOutcome[]> {
  if (jobs.some(needsExact)) return holdStock(db, jobs)
  const held = await writeHolds(db, jobs, 'optimistic').catch((error) => {
    if (isDuplicate(error)) return []
    throw error
  })
  if (held.length === 0 || !held.every(isCheckout)) return holdStock(db, jobs)
  announce(db, 'stock', rateStockOf(jobs))
  return held
}

/** Holds jobs of any rates in one statement, those of one organization if the database is distributed. Defers
 *  all jobs of a rate if it can't hold one of them, which keeps them in order: first come, first served. */
async function holdManyRates(db: Database, jobs: HoldJob[]): Promise<(Checkout | typeof deferred)[]> {
  const alone = jobs.filter((job) => needsExact(job) || hasDiscount(job))
  const rateIds = new Set(alone.map(({ plan }) => plan.rate.id))
  const optimistic = jobs.filter(({ plan }) => !rateIds.has(plan.rate.id))
  const held =
    optimistic.length > 0
      ? await writeHolds(db, optimistic, isDistributed(db) ? 'optimisticSkipLocked' : 'optimisticOfMany')
      : []
  const checkouts = new Map(optimistic.map((job, index) => [job, held[index]]))
  announce(db, 'stock', rateStockOf(optimistic))
  return jobs.map((job) => checkouts.get(job) ?? deferred)
}

// Test checkouts wait in a queue of their own, because a statement holds jobs of one mode, and take fewer
// connections.
const limitsIn: Record<Mode, typeof limits> = {
  live: limits,
  test: { ...limits, maxMixed: 1, maxAlone: 1, maxOfKey: 1 },
}

const queueOf = perDatabase((db) =>
  perMode((mode) =>
    batchByKey<HoldJob, HoldOutcome>(
      {
        name: 'holds',
        mixed: (jobs) => holdManyRates(db, jobs),
        familyOf: ({ plan }) => (isDistributed(db) ? plan.rate.organizationId : ''),
        alone: (jobs) => holdOneRate(db, jobs),
        concernsAll: (error) => isUnavailable(error) && !isTransient(error),
        busy: () => busy('Too many checkouts of this rate at once. Try again.'),
      },
      limitsIn[mode],
    ),
  ),
)

/** Holds the stock of a planned checkout, batched with others that wait in this process. The outcome is one
 *  that the job could have by itself. Refuses: BUSY if too many wait for its rate, and whatever holdStock
 *  refuses. */
export async function holdTogether(db: Database, job: HoldJob): Promise<HoldOutcome> {
  if (!isFast('hold-together')) {
    const [outcome = null] = await holdStock(db, [job])
    return outcome
  }
  return queueOf(db)[job.seller.mode](job.plan.rate.id, job)
}
