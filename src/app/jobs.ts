import type { Database } from '../database/database.ts'
import { assignPositions } from '../domain/change/assign-positions.ts'
import { type Senders, sendDeliveries } from '../domain/delivery/send-deliveries.ts'
import type { PaymentProvider } from '../domain/payment/provider.ts'
import { giveBackDue, type Mismatch } from '../domain/sale/refund/give-back-due.ts'
import { sweepHolds } from '../domain/sale/release/sweep-holds.ts'
import { closeSessions } from '../domain/sale/session/close-sessions.ts'
import { sendWebhooks } from '../domain/webhook/send/send-webhooks.ts'
import { repeat } from './repeat.ts'

/** What background work runs on. */
export type JobOptions = {
  db: Database
  provider: PaymentProvider
  senders: Senders
  privateWebhooks: boolean
  /** Called once for money that does not match its payment, for the operator. */
  onMismatch?: (mismatch: Mismatch) => void
}

type Task = { name: string; everySeconds: number; run: (stopping: AbortSignal) => Promise<unknown> }

// Each process does all of it: whoever is free takes what is due.
const tasksOf = ({ db, provider, senders, privateWebhooks, onMismatch }: JobOptions): Task[] => [
  { name: 'sweep', everySeconds: 1, run: () => sweepHolds(db) },
  { name: 'ending sessions', everySeconds: 1, run: () => closeSessions({ db, provider }) },
  { name: 'refunds', everySeconds: 1, run: () => giveBackDue(db, provider, onMismatch) },
  { name: 'feed', everySeconds: 1, run: () => assignPositions(db) },
  { name: 'delivery', everySeconds: 1, run: () => sendDeliveries(db, senders) },
  {
    name: 'webhooks',
    everySeconds: 1,
    run: (stopping) => sendWebhooks(db, { privateWebhooks, stopping }),
  },
]

/** Begins what is done outside of requests. `onError` is told of what failed, and of what it failed at. Stopping waits
 *  for what runs. */
export function startJobs(
  options: JobOptions,
  onError: (error: unknown, task: string) => void,
): () => Promise<void> {
  const stops = tasksOf(options).map(({ name, everySeconds, run }) =>
    repeat(run, everySeconds, (error) => onError(error, name)),
  )
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}
