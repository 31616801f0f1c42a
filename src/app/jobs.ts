import { assignPositions } from '../domain/change/assign-positions.ts'
import { queueMoved } from '../domain/delivery/move-dates.ts'
import { type Senders, sendDeliveries } from '../domain/delivery/send-deliveries.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { type Mismatch, processDueRefunds } from '../domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../domain/sale/release/expire-holds.ts'
import { findTroubles, type Trouble } from '../domain/sale/report/count-backlog.ts'
import { closeSessions } from '../domain/sale/settle/provider-session.ts'
import { dropOfDeleted, resumeWebhooks } from '../domain/webhook/manage-webhook.ts'
import { sendWebhooks } from '../domain/webhook/send/send-webhooks.ts'
import { instruments } from '../engine/base/instruments.ts'
import { repeat } from '../engine/base/timers.ts'
import { electLeader } from '../engine/data/elect-leader.ts'
import type { Database } from '../engine/database/database.ts'

type Job = (stopping: AbortSignal) => Promise<unknown>

/** Dependencies of the background jobs. */
type JobOptions = {
  db: Database
  provider: PaymentProvider
  senders: Senders
  privateWebhooks: boolean
  /** Deletes and anonymizes what is old; nothing without it. */
  retention?: Job
  /** Reports money that does not match its payment, once each, for the operator. */
  onMismatch?: (mismatch: Mismatch) => void
  /** Reports once a minute, in one process of all, what is late and why. */
  onTrouble?: (trouble: Trouble) => void
  /** Short steps of the database's own upkeep, where no server does them. */
  upkeep?: Job | undefined
  /** True if no other process uses the database, so that nobody has to be elected. */
  isAlone?: boolean
}

// Jobs that many processes do no faster than one: each run is a statement or two over all organizations. The
// others claim a few rows each and wait for somebody else, so more processes do more of them.
const jobsOfMinute = new Set(['troubles', 'deleted webhooks'])
const jobsOfLeader = new Set(['sweep', 'feed', 'notices', 'resumed webhooks', ...jobsOfMinute])
const pauseMs = 1_000
const minuteMs = 60_000

/** Starts the background jobs. Of all processes on a database one is elected to run those that gain nothing from
 *  more. `onError` receives each error and the name of its job. The returned function stops them, and resolves
 *  once running work has finished. */
export function startJobs(options: JobOptions, onError: (error: unknown, job: string) => void) {
  const { db, provider, senders, privateWebhooks, retention, upkeep, onMismatch, onTrouble, isAlone } =
    options
  // Leases and locks keep processes from doing the same work twice, so every process may run every job.
  const jobs: Record<string, Job> = {
    sweep: () => sweepHolds(db),
    'ending sessions': () => closeSessions({ db, provider }),
    refunds: () => processDueRefunds(db, provider, onMismatch),
    feed: () => assignPositions(db),
    notices: () => queueMoved(db),
    delivery: () => sendDeliveries(db, senders),
    webhooks: (stopping) => sendWebhooks(db, { privateWebhooks, stopping }),
    ...(retention && { retention }),
    ...(upkeep && { upkeep }),
    'resumed webhooks': () => resumeWebhooks(db),
    'deleted webhooks': () => dropOfDeleted(db),
    ...(onTrouble && {
      troubles: async () => (await findTroubles(db, { provider: provider.name })).forEach(onTrouble),
    }),
  }
  const candidate = isAlone
    ? null
    : electLeader(db, { role: 'jobs', onError: (error) => onError(error, 'election') })
  const stops = Object.entries(jobs).map(([name, run]) => {
    const measured: Job = async (stopping) => {
      if (jobsOfLeader.has(name) && candidate?.isLeader() === false) return
      const began = performance.now()
      let isOk = false
      try {
        await run(stopping)
        isOk = true
      } finally {
        instruments.observer?.onJob(name, (performance.now() - began) / 1000, isOk)
      }
    }
    const pauses = { pauseMs: jobsOfMinute.has(name) ? minuteMs : pauseMs, firstMs: pauseMs }
    return repeat(measured, pauses, (error) => onError(error, name))
  })
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
    await candidate?.stop()
  }
}
