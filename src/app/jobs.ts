import type { Database } from '../database/database.ts'
import { assignPositions } from '../domain/change/assign-positions.ts'
import { type Senders, sendDeliveries } from '../domain/delivery/send-deliveries.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { closeSessions } from '../domain/sale/provider-session.ts'
import { type Mismatch, processDueRefunds } from '../domain/sale/refund/request-provider-refund.ts'
import { sweepHolds } from '../domain/sale/release/release-holds.ts'
import { sendWebhooks } from '../domain/webhook/send/send-webhooks.ts'
import { repeat } from './repeat.ts'

/** Dependencies of the background jobs. */
export type JobOptions = {
  db: Database
  provider: PaymentProvider
  senders: Senders
  privateWebhooks: boolean
  /** Reports money that does not match its payment, once each, for the operator. */
  onMismatch?: (mismatch: Mismatch) => void
}

type Job = { name: string; everySeconds: number; run: (stopping: AbortSignal) => Promise<unknown> }

// Every process runs every job: leases and locks keep them from doing the same work twice.
const jobsOf = ({ db, provider, senders, privateWebhooks, onMismatch }: JobOptions): Job[] => [
  { name: 'sweep', everySeconds: 1, run: () => sweepHolds(db) },
  { name: 'ending sessions', everySeconds: 1, run: () => closeSessions({ db, provider }) },
  { name: 'refunds', everySeconds: 1, run: () => processDueRefunds(db, provider, onMismatch) },
  { name: 'feed', everySeconds: 1, run: () => assignPositions(db) },
  { name: 'delivery', everySeconds: 1, run: () => sendDeliveries(db, senders) },
  {
    name: 'webhooks',
    everySeconds: 1,
    run: (stopping) => sendWebhooks(db, { privateWebhooks, stopping }),
  },
]

/** Starts the background jobs. `onError` receives each error and the name of its job. The returned function
 *  stops them, and resolves once running work has finished. */
export function startJobs(
  options: JobOptions,
  onError: (error: unknown, job: string) => void,
): () => Promise<void> {
  const stops = jobsOf(options).map(({ name, everySeconds, run }) =>
    repeat(run, everySeconds, (error) => onError(error, name)),
  )
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}
