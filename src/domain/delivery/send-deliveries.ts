import { and, eq, inArray, sql } from 'drizzle-orm'
import type { PgUpdateSetSource } from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'
import pLimit from 'p-limit'
import { groupBy } from '../../engine/base/group-by.ts'
import { backoff, claimDue } from '../../engine/data/leased-jobs.ts'
import { inSeconds } from '../../engine/database/clock.ts'
import { type Database, perDatabase } from '../../engine/database/database.ts'
import { atOnce } from '../../engine/database/transaction.ts'
import { yieldToRequests } from './draw-ticket.ts'
import { documentsToSend, type TicketDocument } from './find-documents.ts'
import { type Delivery, deliveries, isBounded } from './table.ts'

/** Sends the tickets of a delivery, or a notice about one. Throws `Undelivered` on failure. */
export type Sender = (
  delivery: Pick<Delivery, 'id' | 'notice' | 'recipient' | 'ticketId'>,
  documents: [TicketDocument, ...TicketDocument[]],
) => Promise<void>

/** Delivery failure, whose message is a code without personal data. A permanent failure is final once it is confirmed
 *  (`isFinal`). */
export class Undelivered extends Error {
  readonly isPermanent: boolean

  constructor(code: string, isPermanent: boolean) {
    super(code)
    this.isPermanent = isPermanent
  }
}

/** Sender of each medium, null if it is not enabled, the number that an organization sends in an hour beside
 *  tickets that were paid, and a callback for deliveries that are given up. */
export type Senders = Record<Delivery['medium'], Sender | null> & {
  perHour: number
  onDead(deliveryId: string, code: string): void
}

// Small batches, because drawing tickets competes with requests for the CPU.
const limits = { limit: 10, concurrency: 4, leaseSeconds: 300, runSeconds: 2 }
// 24 attempts take about a day.
const maxAttempts = 24
const maxPutOff = 5_000
const pauses = { first: 30, max: 7200 }

// The last deliveries that each medium's server took or refused for good: when it first refused one, and its last answer.
type Answer = { since: number; at: number; isTaken: boolean }
const answersOf = perDatabase(() => {
  const ofSome = () => new LRUCache<string, Answer>({ max: 1_000 })
  return { email: ofSome(), whatsapp: ofSome() }
})

/** Notes a refusal, and reports whether it ends the delivery: if it was refused before, and most others were taken since.
 *  A server that refuses all of them doesn't want the sender, and a person must act. */
function isFinal(answers: LRUCache<string, Answer>, id: string): boolean {
  const at = performance.now()
  const before = answers.get(id)
  answers.set(id, { since: before?.since ?? at, at, isTaken: false })
  if (!before) return false
  const since = [...answers].flatMap(([other, answer]) =>
    other !== id && answer.at > before.since ? [answer] : [],
  )
  const taken = since.filter(({ isTaken }) => isTaken).length
  return taken > 0 && taken * 2 >= since.length
}

/** Postpones deliveries beyond an organization's hourly limit, and its others that are due, by up to 68 minutes
 *  each. Counts no attempt, and keeps the last failure. Returns those to send now, which include all paid tickets
 *  (DECISIONS 164). */
async function withinHour(db: Database, claimed: Delivery[], perHour: number): Promise<Delivery[]> {
  const late = new Set<string>()
  const bounded = claimed.filter(({ occasion }) => occasion !== '')
  for (const [organizationId, own] of groupBy(bounded, ({ organizationId }) => organizationId)) {
    const isOwn = sql`${deliveries.organizationId} = ${organizationId} and ${isBounded(deliveries)}`
    const lastHour = sql`(select from ${deliveries}
      where ${isOwn} and ${deliveries.sentAt} > now() - interval '1 hour' limit ${perHour}) as sent`
    const excess = own.slice(Math.max(0, perHour - (await db.$count(lastHour)))).map(({ id }) => id)
    if (excess.length === 0) continue
    for (const id of excess) late.add(id)
    const due = sql`array(select ${deliveries.id} from ${deliveries} where ${isOwn}
      and ${deliveries.status} = 'pending' and ${deliveries.dueAt} <= now() limit ${maxPutOff} for update skip locked)`
    await db
      .update(deliveries)
      .set({
        dueAt: sql`now() + (hashtext(${deliveries.id}) & 4095) * interval '1 second'`,
        // Claiming has counted an attempt of those alone.
        attempts: sql`${deliveries.attempts} - (${inArray(deliveries.id, excess)})::integer`,
        lastError: sql`coalesce(${deliveries.lastError}, 'TOO_MANY')`,
      })
      .where(sql`${isOwn} and (${inArray(deliveries.id, excess)} or ${deliveries.id} = any(${due}))`)
  }
  return claimed.filter(({ id }) => !late.has(id))
}

/** Sends due deliveries for some seconds at most, at least once. Any number of processes may run it: each
 *  claims its own rows, and a claim of a process that died expires after some minutes. A mail whose process
 *  died before it could record success is sent again under the same Message-ID. Paid tickets go first, and each
 *  organization has its share. Failures are retried with backoff; a delivery is `dead` after `maxAttempts`, or a second
 *  permanent refusal while others were taken. */
export async function sendDeliveries(db: Database, senders: Senders): Promise<void> {
  const limit = pLimit(limits.concurrency)
  // One connection is enough here, and leaves the others to checkouts.
  const onDatabase = pLimit(1)
  const inTurn = pLimit(1)
  const deliver = async (delivery: Delivery) => {
    const send = senders[delivery.medium]
    const answers = answersOf(db)[delivery.medium]
    await inTurn(yieldToRequests)
    const [first, ...rest] = send ? await onDatabase(() => documentsToSend(db, delivery)) : []
    const isStillPending = and(
      eq(deliveries.organizationId, delivery.organizationId),
      eq(deliveries.id, delivery.id),
      eq(deliveries.status, 'pending'),
    )
    const finish = (set: PgUpdateSetSource<typeof deliveries>) =>
      onDatabase(() => db.update(deliveries).set(set).where(isStillPending))
    if (!send || !first) {
      await finish({ status: 'skipped', lastError: send ? 'NO_TICKETS' : 'NOT_ENABLED' })
      return
    }
    try {
      await send(delivery, [first, ...rest])
    } catch (error) {
      const failure = error instanceof Undelivered ? error : new Undelivered('INTERNAL', false)
      const { message: lastError, isPermanent } = failure
      const isDead = (isPermanent && isFinal(answers, delivery.id)) || delivery.attempts >= maxAttempts
      const dueAt = inSeconds(backoff(delivery.attempts, pauses))
      await finish(isDead ? { status: 'dead', lastError } : { dueAt, lastError })
      if (isDead) senders.onDead(delivery.id, lastError)
      if (failure !== error) throw error
      return
    }
    const at = performance.now()
    answers.set(delivery.id, { since: at, at, isTaken: true })
    await finish({ status: 'sent', sentAt: sql`now()`, lastError: null })
  }
  const end = Date.now() + limits.runSeconds * 1000
  let claimed: Delivery[]
  do {
    claimed = await claimDue(db, deliveries, { ...limits, isLess: isBounded(deliveries) })
    const now = await withinHour(db, claimed, senders.perHour)
    await atOnce(...now.map((delivery) => limit(() => deliver(delivery))))
  } while (claimed.length === limits.limit && Date.now() < end)
}
