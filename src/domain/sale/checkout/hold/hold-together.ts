// Holds the stock of planned checkouts, together with those of other requests:
//
//   holdTogether(job) ──► queue, by rate
//      │
//      ▼  those of an organization
//   1. holdManyRates: all idle rates in one statement that waits for nobody ────────────► held
//      │
//      ▼  rates of which something is locked, or may be used up, wait alone
//   2. holdOneRate: the jobs of one rate in one statement ──────────────────────────────► held
//      │
//      ▼  what may be used up, or is paid at once
//   3. holdExactly: in a transaction, which records that something is used up, and pays ► held, refused,
//                                                                                         or planned again
//
// Each step calls the database's function `hold`, which decides job by job under the locks of the counters; 1 and 2 only
// add speed. Slow form: (db, job) => holdExactly(db, [job]).then(([outcome]) => outcome)
//
// A rule across checkouts (tickets per buyer, say) belongs in the function, which sees what every other checkout of the
// rate has done.

import { isFast } from '../../../../engine/base/fast.ts'
import { deferred, joinWrites } from '../../../../engine/data/join-writes.ts'
import { announce } from '../../../../engine/database/announcements.ts'
import { type Connection, type Database, isDuplicate } from '../../../../engine/database/database.ts'
import { announceOnCommit, transaction } from '../../../../engine/database/transaction.ts'
import { nameInMode } from '../../../caller/idempotency.ts'
import { perMode } from '../../../caller/mode.ts'
import { rateInMode } from '../../../stock/table.ts'
import { recordAvailability } from '../../../ticket-rate/record-availability.ts'
import { markPaid } from '../../settle/mark-paid.ts'
import { chargeAtBoxOffice } from '../../settle/record-charges.ts'
import { type HoldOutcome, hold } from './hold.ts'
import { type HoldJob, isPaidAtOnce, organizationAndModeOf } from './hold-rows.ts'

// Two mixed runs write while the process prepares the next one. More would only make each of them smaller,
// and the fixed cost of a run equals that of eight rows. Runs of one rate may wait for a lock: four of them
// leave connections for everybody else.
const liveLimits = { maxMixed: 2, maxAlone: 4, maxOfKey: 2, maxWaiting: 2_000 }
// Test checkouts wait in a queue of their own, because a statement holds jobs of one mode, and take fewer connections.
const limitsOf = { live: liveLimits, test: { ...liveLimits, maxMixed: 1, maxAlone: 1, maxOfKey: 1 } }

const isLater = ({ kind }: HoldOutcome) => kind === 'later'

const ratesOf = (jobs: HoldJob[]) =>
  new Set(jobs.map(({ plan, seller }) => rateInMode(seller.mode, plan.rate.id)))

// Holds jobs in a statement of its own, without those of rates of which something may be used up.
async function holdAhead(db: Database, jobs: HoldJob[], waits: boolean): Promise<HoldOutcome[]> {
  if (jobs.length === 0) return []
  const { outcomes } = await hold(db, jobs, { waits, mayUseUp: false })
  announce(db, 'stock', ratesOf(jobs.filter((_, index) => outcomes[index]?.kind !== 'later')))
  return outcomes
}

// Pays checkouts of jobs that are paid at once, whose outcomes then have them in their current state.
async function payAtOnce(tx: Connection, jobs: HoldJob[], outcomes: HoldOutcome[]): Promise<void> {
  const due = outcomes.flatMap((outcome, index) => {
    const job = jobs[index]
    if (!job || !isPaidAtOnce(job) || outcome.kind !== 'held') return []
    return { ...outcome.checkout, isPublic: job.seller.isPublic }
  })
  const payments = due.map(({ payment }) => payment)
  await chargeAtBoxOffice(tx, payments)
  const recorded = await markPaid(tx, due, 'held')
  const paid = new Map(recorded?.map((checkout) => [checkout.payment.id, checkout]))
  for (const outcome of outcomes)
    if (outcome.kind === 'held') outcome.checkout = paid.get(outcome.checkout.payment.id) ?? outcome.checkout
}

/** Holds planned checkouts of one organization and mode, job by job, first come, first served: a small one may fit
 *  where a large one before it did not. Takes one transaction, which waits for the locks of their counters, records
 *  what is used up, and pays what is paid at once. Each job is held whole or not at all, and a refusal of one affects
 *  no other. Refuses: IDEMPOTENCY_KEY_IN_USE, QR_CODE_TAKEN (INTERFACE, checkout; DECISIONS, checkout). */
export const holdExactly = (db: Database, jobs: HoldJob[]): Promise<HoldOutcome[]> =>
  transaction(db, async (tx) => {
    const { outcomes, usedUp } = await hold(tx, jobs, { waits: true, mayUseUp: true })
    announceOnCommit(tx, 'stock', [...ratesOf(jobs)])
    const { organizationId, mode } = organizationAndModeOf(jobs)
    await recordAvailability(tx, organizationId, mode, usedUp)
    await payAtOnce(tx, jobs, outcomes)
    return outcomes
  })

// Holds jobs of one rate: in one statement if they leave something of it, which they nearly always do.
async function holdOneRate(db: Database, jobs: HoldJob[]): Promise<HoldOutcome[]> {
  if (jobs.some(isPaidAtOnce)) return holdExactly(db, jobs)
  const outcomes = await holdAhead(db, jobs, true).catch((error: unknown): HoldOutcome[] => {
    if (isDuplicate(error)) return [{ kind: 'later' }]
    throw error
  })
  return outcomes.some(isLater) ? holdExactly(db, jobs) : outcomes
}

// Holds jobs of any rates of an organization in one statement. Defers all jobs of a rate if it can't hold one of them,
// which keeps them in order: first come, first served.
async function holdManyRates(db: Database, jobs: HoldJob[]) {
  const alone = new Set(jobs.filter(isPaidAtOnce).map(({ plan }) => plan.rate.id))
  const ahead = jobs.filter(({ plan }) => !alone.has(plan.rate.id))
  const held = await holdAhead(db, ahead, false)
  const outcomes = new Map(ahead.map((job, index) => [job, held[index]]))
  return jobs.map((job) => {
    const outcome = outcomes.get(job)
    return !outcome || isLater(outcome) ? deferred : outcome
  })
}

const holdInMode = perMode((mode) =>
  joinWrites<HoldJob, HoldOutcome>(
    'holds',
    (db, jobs, onLocked) => (onLocked === 'wait' ? holdExactly(db, jobs) : holdOneRate(db, jobs)),
    {
      ...limitsOf[mode],
      ownerOf: ({ plan, seller }) => nameInMode(seller, plan.rate.organizationId),
      mixed: { write: holdManyRates },
      words: 'Too many checkouts of this rate at once. Try again.',
    },
  ),
)

/** Holds the stock of a planned checkout, batched with others that wait in this process. The outcome is one
 *  that the job could have by itself. Refuses: BUSY if too many wait for its rate, and whatever holdExactly
 *  refuses. */
export async function holdTogether(db: Database, job: HoldJob): Promise<HoldOutcome> {
  if (isFast('hold-together')) return holdInMode[job.seller.mode](db, job.plan.rate.id, job)
  const [outcome] = await holdExactly(db, [job])
  return outcome ?? { kind: 'plan again' }
}
