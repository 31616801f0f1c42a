import { and, eq, sql } from 'drizzle-orm'
import pLimit from 'p-limit'
import type { Database } from '../database.ts'
import { inSeconds, pauseAfter, takeDue } from '../due.ts'
import { sheetsToSend } from './find-sheets.ts'
import type { Sender } from './send-mail.ts'
import { type Delivery, deliveries } from './table.ts'
import { Undelivered } from './undelivered.ts'

/** What each medium is sent by; null where it is not enabled. */
export type Senders = Record<Delivery['medium'], Sender | null>

// Few at a time, because tickets are drawn in between requests, and connections are for those.
const limits = { batch: 10, atOnce: 4, leaseSeconds: 300, runSeconds: 2 }
// 24 tries take about a day.
const mostAttempts = 24
const pauses = { first: 30, most: 7200 }

const finish = (
  db: Database,
  { id }: Delivery,
  set: Partial<Pick<Delivery, 'status' | 'lastError'>> & Record<string, unknown>,
) =>
  db
    .update(deliveries)
    .set(set)
    .where(and(eq(deliveries.id, id), eq(deliveries.status, 'pending')))

function afterFailure(error: unknown, attempts: number) {
  const { code, isPermanent } = error instanceof Undelivered ? error : new Undelivered('INTERNAL', false)
  return isPermanent || attempts >= mostAttempts
    ? { status: 'dead' as const, lastError: code }
    : { dueAt: inSeconds(pauseAfter(attempts, pauses)), lastError: code }
}

async function deliver(db: Database, senders: Senders, delivery: Delivery): Promise<void> {
  const send = senders[delivery.medium]
  if (!send) return void (await finish(db, delivery, { status: 'skipped', lastError: 'NOT_ENABLED' }))
  const [first, ...rest] = await sheetsToSend(db, delivery)
  if (!first) return void (await finish(db, delivery, { status: 'skipped', lastError: 'NO_TICKETS' }))
  try {
    await send(delivery, [first, ...rest])
  } catch (error) {
    await finish(db, delivery, afterFailure(error, delivery.attempts))
    if (error instanceof Undelivered) return
    throw error
  }
  await finish(db, delivery, { status: 'sent', sentAt: sql`now()`, lastError: null })
}

/** Sends what is due, for a moment at most. Any number of processes may: each takes what no other has, and what one that
 *  died had taken is due again after some minutes. At least once: a mail whose sender died before it could write down that
 *  it was taken goes out again, under the same Message-ID. What fails is tried again later, and is `dead` once it was tried
 *  often enough, or was refused for good. */
export async function sendDeliveries(db: Database, senders: Senders): Promise<void> {
  const limit = pLimit(limits.atOnce)
  const end = Date.now() + limits.runSeconds * 1000
  let taken: Delivery[]
  do {
    taken = await takeDue(db, deliveries, { limit: limits.batch, leaseSeconds: limits.leaseSeconds })
    const done = await Promise.allSettled(
      taken.map((delivery) => limit(() => deliver(db, senders, delivery))),
    )
    const failed = done.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
  } while (taken.length === limits.batch && Date.now() < end)
}
