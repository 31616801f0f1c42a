import { batchByKey, deferred } from '../../../../data/batch-queue.ts'
import { type Database, isDuplicate, isTransient, isUnavailable } from '../../../../database/database.ts'
import { perDatabase } from '../../../../database/per-database.ts'
import { busy } from '../../../../shared/errors.ts'
import { isFast } from '../../../../shared/fast.ts'
import { type Checkout, type HoldJob, isFree } from './hold-rows.ts'
import { writeHolds } from './hold-statement.ts'
import { type HoldOutcome, holdStock } from './hold-stock.ts'

// Two at a time write while the process makes ready what comes next. More would only make each of them smaller, and
// what a run costs beside its rows is worth eight of them. Those that may have to wait for somebody else's lock leave
// connections to all others.
const limits = { maxTogether: 64, maxMixed: 2, maxAlone: 4, maxOfKey: 2, maxWaiting: 2_000 }

const isCheckout = (outcome: Checkout | null): outcome is Checkout => outcome !== null

/** Jobs of one rate: in one statement where they leave something of it, which is nearly always, else decided one by
 *  one. More becomes of what is free than is held: it is paid in the same transaction. */
async function holdAlone(db: Database, jobs: HoldJob[]): Promise<HoldOutcome[]> {
  if (jobs.some(isFree)) return holdStock(db, jobs)
  const held = await writeHolds(db, jobs, 'wait').catch((error) => {
    if (isDuplicate(error)) return []
    throw error
  })
  return held.length > 0 && held.every(isCheckout) ? held : holdStock(db, jobs)
}

/** Jobs of any rates, in one statement. A rate of which it can't decide one is left alone: first come, first served. */
async function holdMixed(db: Database, jobs: HoldJob[]): Promise<(Checkout | typeof deferred)[]> {
  const free = new Set(jobs.filter(isFree).map(({ plan }) => plan.rate.id))
  const paid = jobs.filter(({ plan }) => !free.has(plan.rate.id))
  const held = paid.length > 0 ? await writeHolds(db, paid, 'skip') : []
  const checkouts = new Map(paid.map((job, index) => [job, held[index]]))
  return jobs.map((job) => checkouts.get(job) ?? deferred)
}

const createQueue = (db: Database) =>
  batchByKey<HoldJob, HoldOutcome>(
    {
      mixed: (jobs) => holdMixed(db, jobs),
      alone: (jobs) => holdAlone(db, jobs),
      concernsAll: (error) => isUnavailable(error) && !isTransient(error),
      busy: () => busy('Too many checkouts of this rate at once. Try again.'),
    },
    limits,
  )

const queueOf = perDatabase(createQueue)

/** Holds the stock of a planned checkout together with those that wait in this process, in one statement for all rates
 *  that nobody else is at. Each has the outcome that it would have by itself. Refuses: BUSY, where too many wait for
 *  its rate, and what holdStock refuses. */
export async function holdTogether(db: Database, job: HoldJob): Promise<HoldOutcome> {
  if (!isFast('hold-together')) {
    const [outcome = null] = await holdStock(db, [job])
    return outcome
  }
  return queueOf(db)(job.plan.rate.id, job)
}
