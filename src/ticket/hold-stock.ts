import { and, asc, eq, inArray, ne, sql } from 'drizzle-orm'
import { anyOf } from '../batch.ts'
import { touchCatalogue } from '../catalogue-version.ts'
import type { Connection, Database } from '../database.ts'
import { type Problem, Refusal } from '../errors.ts'
import { idempotencyKeys, isFresh, payments } from '../payment/table.ts'
import { leftOf } from '../ticket-rate/current-price.ts'
import { moveStock, type StockMove, stockMoves } from '../ticket-rate/move-stock.ts'
import { stock } from '../ticket-rate/table.ts'
import { type Checkout, type HoldJob, type Idempotency, insertRows, toCheckout } from './hold-rows.ts'
import { tickets } from './table.ts'

/** What became of a job: a checkout, why there is none, or null where the caller is to look again: the stock that the
 *  plan saw is gone meanwhile, or the key's checkout was made meanwhile. */
export type HoldOutcome = Checkout | Refusal | null

type Taken = Map<string, 'in use' | 'made'>

/** Takes the idempotency keys for this transaction, and says of those that it could not take, why. */
async function takeKeys(tx: Connection, keys: Idempotency[]): Promise<Taken> {
  if (keys.length === 0) return new Map()
  const ids = [...new Set(keys.map(({ id }) => id))]
  const locked = await tx
    .select({ id: sql<string>`id`, taken: sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(id, 0))` })
    .from(sql`unnest(${sql.placeholder('ids')}::text[]) as id`)
    .prepare('lock_idempotency_keys')
    .execute({ ids })
  const made = await tx
    .select({ id: idempotencyKeys.id })
    .from(idempotencyKeys)
    .where(and(anyOf(idempotencyKeys.id, 'ids'), isFresh))
    .prepare('fresh_idempotency_keys')
    .execute({ ids })
  return new Map([
    ...locked.filter(({ taken }) => !taken).map(({ id }) => [id, 'in use'] as const),
    ...made.map(({ id }) => [id, 'made'] as const),
  ])
}

// A key that is kept here already is older than 24 hours: the fresh ones were looked for under the lock.
async function keepKeys(tx: Connection, kept: (typeof idempotencyKeys.$inferInsert)[]): Promise<void> {
  if (kept.length === 0) return
  await tx
    .insert(idempotencyKeys)
    .values(kept)
    .onConflictDoUpdate({
      target: idempotencyKeys.id,
      set: {
        requestHash: sql`excluded.request_hash`,
        paymentId: sql`excluded.payment_id`,
        createdAt: sql`excluded.created_at`,
      },
    })
}

const codesOf = ({ input }: HoldJob) => input.tickets.flatMap(({ qrCode }) => (qrCode ? [qrCode] : []))

/** Which of the channels' own codes are used already within the event. */
async function takenCodes(tx: Connection, jobs: HoldJob[]): Promise<Set<string>> {
  const codes = jobs.flatMap(codesOf)
  const eventId = jobs[0]?.plan.rate.eventId
  if (codes.length === 0 || !eventId) return new Set()
  const taken = await tx
    .select({ qrCode: tickets.qrCode })
    .from(tickets)
    .where(and(eq(tickets.eventId, eventId), inArray(tickets.qrCode, codes), ne(tickets.status, 'expired')))
  return new Set(taken.map(({ qrCode }) => qrCode))
}

/** What is left of each rate and price that the jobs want, under a lock that this transaction keeps, in the order of
 *  their ids, so that two never wait for each other; and the database's clock. */
async function lockStock(tx: Connection, ids: string[]) {
  const rows = await tx
    .select({
      id: stock.id,
      capacity: stock.capacity,
      soldBefore: stock.soldBefore,
      sold: stock.sold,
      held: stock.held,
      now: sql<Date>`now()`.mapWith(payments.createdAt),
    })
    .from(stock)
    .where(anyOf(stock.id, 'ids'))
    .orderBy(asc(stock.id))
    .for('update')
    .prepare('lock_stock')
    .execute({ ids })
  const left = new Map(rows.map((row) => [row.id, leftOf(row) ?? Number.POSITIVE_INFINITY]))
  return { left, now: rows[0]?.now ?? new Date() }
}

const movesOf = ({ plan }: HoldJob): StockMove[] =>
  stockMoves(
    plan.tickets.map(({ price }) => ({ ticketRateId: plan.rate.id, priceId: price.id })),
    plan.totalAmount === 0 ? { sold: 1 } : { held: 1 },
  )

function codeProblems({ input }: HoldJob, taken: Set<string>): Problem[] {
  return input.tickets.flatMap(({ qrCode }, index): Problem[] =>
    qrCode && taken.has(qrCode)
      ? [
          {
            code: 'QR_CODE_TAKEN',
            message: 'The code is already used within the event.',
            path: ['tickets', index, 'qrCode'],
          },
        ]
      : [],
  )
}

const keyInUse = () =>
  new Refusal({
    code: 'IDEMPOTENCY_KEY_IN_USE',
    message: 'A checkout with this key is still in progress.',
    path: ['idempotencyKey'],
  })

/** Decides job by job, first come first served, what fits: a small one may where a large one before it did not. */
function decide(jobs: HoldJob[], keys: Taken, codes: Set<string>, left: Map<string, number>, now: Date) {
  return jobs.map((job): HoldOutcome => {
    const key = job.idempotency && keys.get(job.idempotency.id)
    if (key) return key === 'made' ? null : keyInUse()
    const [problem, ...more] = codeProblems(job, codes)
    if (problem) return new Refusal(problem, ...more)
    const moves = movesOf(job)
    if (moves.some(({ id, held, sold }) => (left.get(id) ?? 0) < held + sold)) return null
    for (const { id, held, sold } of moves) left.set(id, (left.get(id) ?? 0) - held - sold)
    for (const code of codesOf(job)) codes.add(code)
    if (job.idempotency) keys.set(job.idempotency.id, 'made')
    return toCheckout(job, now)
  })
}

const isCheckout = (outcome: HoldOutcome): outcome is Checkout => outcome !== null && 'payment' in outcome

function sumOf(moves: StockMove[]): StockMove[] {
  const sums = new Map<string, StockMove>()
  for (const { id, held, sold } of moves) {
    const sum = sums.get(id) ?? { id, held: 0, sold: 0 }
    sums.set(id, { id, held: sum.held + held, sold: sum.sold + sold })
  }
  return [...sums.values()]
}

/** Writes planned checkouts of one rate in one transaction: payments, tickets, keys and counters. Each is all or nothing
 *  by itself, and what one is refused touches no other. (INTERFACE, checkout; DECISIONS 4). */
export async function holdStock(db: Database, jobs: HoldJob[]): Promise<HoldOutcome[]> {
  let usedUp = false
  const outcomes = await db.transaction(async (tx) => {
    const keys = await takeKeys(
      tx,
      jobs.flatMap(({ idempotency }) => idempotency ?? []),
    )
    const moves = jobs.map(movesOf)
    const { left, now } = await lockStock(tx, [...new Set(moves.flat().map(({ id }) => id))])
    const outcomes = decide(jobs, keys, await takenCodes(tx, jobs), left, now)
    const made = outcomes.filter(isCheckout)
    if (made.length === 0) return outcomes
    const kept = outcomes.flatMap((outcome, index) => {
      const key = jobs[index]?.idempotency
      return key && isCheckout(outcome) ? [{ ...key, paymentId: outcome.payment.id, createdAt: now }] : []
    })
    // Sent together: the rows that others wait for are locked while these run.
    ;[usedUp] = await Promise.all([
      moveStock(tx, sumOf(moves.filter((_, index) => isCheckout(outcomes[index] ?? null)).flat())),
      insertRows(
        tx,
        payments,
        made.map(({ payment }) => payment),
      ),
      insertRows(
        tx,
        tickets,
        made.flatMap(({ tickets }) => tickets),
      ),
      keepKeys(tx, kept),
    ])
    return outcomes
  })
  if (usedUp) touchCatalogue(db)
  return outcomes
}
