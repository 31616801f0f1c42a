import type { Database } from '../database.ts'
import { queueByKey } from './hold-queue.ts'
import type { HoldJob } from './hold-rows.ts'
import { type HoldOutcome, holdStock } from './hold-stock.ts'

type Queue = (ticketRateId: string, job: HoldJob) => Promise<HoldOutcome>

const queues = new WeakMap<Database, Queue>()

// Two at a time: one waits at the row while the other commits. More would only fight for it.
const limits = { mostTogether: 64, mostRunning: 2, mostWaiting: 2_000 }

/** Holds the stock of a planned checkout together with those that wait for the same rate in this process, in one
 *  transaction. Each has the outcome that it would have by itself. Refuses: BUSY, where too many wait. */
export function holdTogether(db: Database, job: HoldJob): Promise<HoldOutcome> {
  const queue = queues.get(db) ?? queueByKey((jobs: HoldJob[]) => holdStock(db, jobs), limits)
  queues.set(db, queue)
  return queue(job.plan.rate.id, job)
}
