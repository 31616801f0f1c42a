import { and, asc, eq, inArray, ne, not, sql } from 'drizzle-orm'
import { anyOf } from '../../../../data/prepared.ts'
import { invalidateCatalogue } from '../../../../database/catalogue-version.ts'
import type { Connection, Database } from '../../../../database/database.ts'
import { type Problem, Refusal } from '../../../../shared/errors.ts'
import { idempotencyKeys, isFresh } from '../../../payment/table.ts'
import { tickets } from '../../../ticket/table.ts'
import { leftOf } from '../../../ticket-rate/current-price.ts'
import { stock } from '../../../ticket-rate/table.ts'
import { recordAvailability } from '../../record-availability.ts'
import { recordPaid } from '../../settle/record-paid.ts'
import { type Checkout, type HoldJob, type Idempotency, isFree, movesOf, sumOf } from './hold-rows.ts'
import { writeHolds } from './hold-statement.ts'

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
  // Older than 24 hours, they stand for nothing any more.
  await tx.delete(idempotencyKeys).where(and(inArray(idempotencyKeys.id, ids), not(isFresh)))
  const made = await tx
    .select({ id: idempotencyKeys.id })
    .from(idempotencyKeys)
    .where(anyOf(idempotencyKeys.id, 'ids'))
    .prepare('kept_idempotency_keys')
    .execute({ ids })
  return new Map([
    ...locked.filter(({ taken }) => !taken).map(({ id }) => [id, 'in use'] as const),
    ...made.map(({ id }) => [id, 'made'] as const),
  ])
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
 *  their ids, so that two never wait for each other. */
async function lockStock(tx: Connection, jobs: HoldJob[]): Promise<Map<string, number>> {
  const rows = await tx
    .select()
    .from(stock)
    .where(anyOf(stock.id, 'ids'))
    .orderBy(asc(stock.id))
    .for('update')
    .prepare('lock_stock')
    .execute({ ids: sumOf(jobs).map(({ id }) => id) })
  return new Map(rows.map((row) => [row.id, leftOf(row) ?? Number.POSITIVE_INFINITY]))
}

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
function decide(jobs: HoldJob[], keys: Taken, codes: Set<string>, left: Map<string, number>) {
  return jobs.map((job): 'fits' | Refusal | null => {
    const key = job.idempotency && keys.get(job.idempotency.id)
    if (key) return key === 'made' ? null : keyInUse()
    const [problem, ...more] = codeProblems(job, codes)
    if (problem) return new Refusal(problem, ...more)
    const moves = movesOf(job)
    if (moves.some(({ id, held }) => (left.get(id) ?? 0) < held)) return null
    for (const { id, held } of moves) left.set(id, (left.get(id) ?? 0) - held)
    for (const code of codesOf(job)) codes.add(code)
    if (job.idempotency) keys.set(job.idempotency.id, 'made')
    return 'fits'
  })
}

// A total of 0 is paid at once (DECISIONS 4).
async function payFree(tx: Connection, jobs: HoldJob[], checkouts: (Checkout | null)[]): Promise<void> {
  const free = checkouts.flatMap((checkout, index) => {
    const job = jobs[index]
    return checkout && job && isFree(job) ? [checkout] : []
  })
  const { paid } = (await recordPaid(tx, free, 'held')) ?? { paid: [] }
  for (const made of paid)
    checkouts[checkouts.findIndex((checkout) => checkout?.payment.id === made.payment.id)] = made
}

/** Holds what can be held of planned checkouts of one rate, in one transaction that waits for the rate's counters. Each
 *  is all or nothing by itself, and what one is refused touches no other. (INTERFACE, checkout; DECISIONS 4). */
export async function holdStock(db: Database, jobs: HoldJob[]): Promise<HoldOutcome[]> {
  const { outcomes, usedUp } = await db.transaction(async (tx) => {
    const keys = await takeKeys(
      tx,
      jobs.flatMap(({ idempotency }) => idempotency ?? []),
    )
    const left = await lockStock(tx, jobs)
    const decided = decide(jobs, keys, await takenCodes(tx, jobs), left)
    const fitting = jobs.filter((_, index) => decided[index] === 'fits')
    const checkouts = fitting.length > 0 ? await writeHolds(tx, fitting, 'last') : []
    const usedUp = sumOf(fitting).flatMap(({ id }) => (left.get(id) === 0 ? { id, usedUp: true } : []))
    await recordAvailability(tx, usedUp)
    await payFree(tx, fitting, checkouts)
    const outcomes = decided.map((outcome) => {
      if (outcome !== 'fits') return outcome
      const checkout = checkouts.shift()
      if (!checkout) throw new Error('what fits under the lock is held')
      return checkout
    })
    return { outcomes, usedUp }
  })
  if (usedUp.length > 0) invalidateCatalogue(db)
  return outcomes
}
