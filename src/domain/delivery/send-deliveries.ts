import { and, eq, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import pLimit from 'p-limit'
import { backoff, claimDue, inSeconds } from '../../data/leased-jobs.ts'
import type { Database } from '../../database/database.ts'
import { type Sheet, sheetsToSend } from './find-sheets.ts'
import type { Sender } from './send-mail.ts'
import { type Delivery, deliveries } from './table.ts'
import { Undelivered } from './undelivered.ts'
import { yieldToRequests } from './yield-to-requests.ts'

/** What each medium is sent by, null where it is not enabled; and who is told of what is given up, and of its code. */
export type Senders = Record<Delivery['medium'], Sender | null> & {
  onDead(deliveryId: string, code: string | null): void
}

// Few at a time, because tickets are drawn in between requests.
const limits = { batch: 10, atOnce: 4, leaseSeconds: 300, runSeconds: 2 }
// 24 tries take about a day.
const maxAttempts = 24
const pauses = { first: 30, max: 7200 }

// What a delivery becomes: what is written of it, and what was thrown that nobody expected.
type Outcome = {
  set: PgUpdateSetSource<typeof deliveries> & { lastError: string | null }
  fault?: unknown
}

function afterFailure(error: unknown, attempts: number): Outcome {
  const isExpected = error instanceof Undelivered
  const { code: lastError, isPermanent } = isExpected ? error : new Undelivered('INTERNAL', false)
  const set =
    isPermanent || attempts >= maxAttempts
      ? { status: 'dead' as const, lastError }
      : { dueAt: inSeconds(backoff(attempts, pauses)), lastError }
  return isExpected ? { set } : { set, fault: error }
}

const skipped = (lastError: string): Outcome => ({ set: { status: 'skipped', lastError } })

async function attempt(
  send: Sender | null,
  delivery: Delivery,
  find: () => Promise<Sheet[]>,
): Promise<Outcome> {
  if (!send) return skipped('NOT_ENABLED')
  const [first, ...rest] = await find()
  if (!first) return skipped('NO_TICKETS')
  try {
    await send(delivery, [first, ...rest])
    return { set: { status: 'sent', sentAt: sql`now()`, lastError: null } }
  } catch (error) {
    return afterFailure(error, delivery.attempts)
  }
}

/** Sends what is due, for a moment at most. Any number of processes may: each takes what no other has, and what one
 *  that died had taken is due again after some minutes. At least once: a mail whose sender died before it could write
 *  down that it was taken goes out again, under the same Message-ID. What fails is tried again later, and is `dead`
 *  once it was tried often enough, or was refused for good. */
export async function sendDeliveries(db: Database, senders: Senders): Promise<void> {
  const limit = pLimit(limits.atOnce)
  // Connections are for those who buy: one is enough here, whatever is under way.
  const onDatabase = pLimit(1)
  const inTurn = pLimit(1)
  const deliver = async (delivery: Delivery) => {
    const send = senders[delivery.medium]
    await inTurn(yieldToRequests)
    const { set, fault } = await attempt(send, delivery, () => onDatabase(() => sheetsToSend(db, delivery)))
    const isIt = and(eq(deliveries.id, delivery.id), eq(deliveries.status, 'pending'))
    await onDatabase(() => db.update(deliveries).set(set).where(isIt))
    if (set.status === 'dead') senders.onDead(delivery.id, set.lastError)
    if (fault) throw fault
  }
  const end = Date.now() + limits.runSeconds * 1000
  let taken: Delivery[]
  do {
    taken = await claimDue(db, deliveries, { limit: limits.batch, leaseSeconds: limits.leaseSeconds })
    const done = await Promise.allSettled(taken.map((delivery) => limit(() => deliver(delivery))))
    const failed = done.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
  } while (taken.length === limits.batch && Date.now() < end)
}
