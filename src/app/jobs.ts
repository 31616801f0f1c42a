import type { Database } from '../database/database.ts'
import { assignPositions } from '../domain/change/assign-positions.ts'
import { type Senders, sendDeliveries } from '../domain/delivery/send-deliveries.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { closeSessions } from '../domain/sale/provider-session.ts'
import { type Mismatch, processDueRefunds } from '../domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../domain/sale/release/release-holds.ts'
import { sendWebhooks } from '../domain/webhook/send/send-webhooks.ts'

type Job = (stopping: AbortSignal) => Promise<unknown>

/** Dependencies of the background jobs. */
export type JobOptions = {
  db: Database
  provider: PaymentProvider
  senders: Senders
  privateWebhooks: boolean
  /** Deletes and anonymizes what is old; nothing without it. */
  retention?: Job
  /** Reports money that does not match its payment, once each, for the operator. */
  onMismatch?: (mismatch: Mismatch) => void
}

// Every process runs every job: leases and locks keep them from doing the same work twice.
const jobsOf = ({
  db,
  provider,
  senders,
  privateWebhooks,
  retention,
  onMismatch,
}: JobOptions): Record<string, Job> => ({
  sweep: () => sweepHolds(db),
  'ending sessions': () => closeSessions({ db, provider }),
  refunds: () => processDueRefunds(db, provider, onMismatch),
  feed: () => assignPositions(db),
  delivery: () => sendDeliveries(db, senders),
  webhooks: (stopping) => sendWebhooks(db, { privateWebhooks, stopping }),
  ...(retention && { retention }),
})
const pauseSeconds = 1

/** Starts the background jobs. `onError` receives each error and the name of its job. The returned function
 *  stops them, and resolves once running work has finished. */
export function startJobs(
  options: JobOptions,
  onError: (error: unknown, job: string) => void,
): () => Promise<void> {
  const stops = Object.entries(jobsOf(options)).map(([name, run]) =>
    repeat(run, pauseSeconds, (error) => onError(error, name)),
  )
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** Repeats work until it is stopped, waiting `seconds` before each run. Errors go to `onError` and do not end
 *  it. The returned function aborts the signal, and resolves once the current run has finished. */
export function repeat(work: Job, seconds: number, onError: (error: unknown) => void): () => Promise<void> {
  const stopping = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const next = () => {
    if (stopping.signal.aborted) return
    timer = setTimeout(() => {
      running = work(stopping.signal).catch(onError).finally(next)
    }, seconds * 1000)
    timer.unref()
  }
  next()
  return async () => {
    stopping.abort()
    clearTimeout(timer)
    await running
  }
}
