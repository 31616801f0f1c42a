import { and, asc, eq, inArray, not, sql } from 'drizzle-orm'
import type { Idempotency } from '../../../../data/idempotency.ts'
import { anyOf, inOrganization } from '../../../../data/prepared.ts'
import type { Connection, Database } from '../../../../database/database.ts'
import { transaction } from '../../../../database/transaction.ts'
import type { Refusal } from '../../../../shared/errors.ts'
import { idempotencyKeys, isFresh } from '../../../payment/table.ts'
import { hasLiveCode, tickets } from '../../../ticket/table.ts'
import { leftOf } from '../../../ticket-rate/current-price.ts'
import { announceRates, isOfSale } from '../../../ticket-rate/move-stock.ts'
import { stock } from '../../../ticket-rate/table.ts'
import { recordAvailability } from '../../record-changes.ts'
import { chargeAtBoxOffice } from '../../settle/record-charges.ts'
import { recordPaid } from '../../settle/record-paid.ts'
import { type Checkout, type HoldJob, isPaidAtOnce, modeOf, movesOf, organizationOf } from './hold-rows.ts'
import { writeHolds } from './hold-statement.ts'
import { counterOf, Ledger, requestedCodes, type TakenKeys } from './ledger.ts'

/** Outcome of a job: its checkout, a refusal, or null if the caller should plan it again, because the stock
 *  that the plan saw is gone, or another request has completed a checkout under the same idempotency key. */
export type HoldOutcome = Checkout | Refusal | null

// A row can't tell that a checkout under the same key is in progress: whoever inserts it second waits. The
// join takes the lock where the keys of the organization lie, which is where `writeHolds` takes it.
const askedKeys = sql`unnest(${sql.placeholder('ids')}::text[]) as asked(id)
  left join ${idempotencyKeys} as kept on kept.organization_id = ${sql.placeholder('organizationId')} and kept.id = asked.id`

/** Locks idempotency keys until the transaction ends. Returns those that it can't have. */
async function lockKeys(tx: Connection, organizationId: string, keys: Idempotency[]): Promise<TakenKeys> {
  if (keys.length === 0) return new Map()
  const ids = [...new Set(keys.map(({ id }) => id))]
  const locked = await tx
    .select({
      id: sql<string>`asked.id`,
      taken: sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(asked.id, 0))`,
    })
    .from(askedKeys)
    .prepare('lock_idempotency_keys')
    .execute({ organizationId, ids })
  // Keys older than 24 hours no longer count.
  const isOfOrganization = eq(idempotencyKeys.organizationId, organizationId)
  await tx
    .delete(idempotencyKeys)
    .where(and(isOfOrganization, inArray(idempotencyKeys.id, ids), not(isFresh)))
  const completed = await tx
    .select({ id: idempotencyKeys.id })
    .from(idempotencyKeys)
    .where(and(inOrganization(idempotencyKeys.organizationId), anyOf(idempotencyKeys.id, 'ids')))
    .prepare('kept_idempotency_keys')
    .execute({ organizationId, ids })
  return new Map([
    ...locked.filter(({ taken }) => !taken).map(({ id }) => [id, 'in progress'] as const),
    ...completed.map(({ id }) => [id, 'completed'] as const),
  ])
}

/** Finds codes sent by channels that are already used within the event. */
async function findTakenCodes(tx: Connection, jobs: HoldJob[]): Promise<Set<string>> {
  const codes = jobs.flatMap(requestedCodes)
  const [first] = jobs
  if (codes.length === 0 || !first) return new Set()
  const { organizationId, eventId } = first.plan.rate
  const taken = await tx
    .select({ qrCode: tickets.qrCode })
    .from(tickets)
    .where(
      and(
        eq(tickets.organizationId, organizationId),
        eq(tickets.eventId, eventId),
        inArray(tickets.qrCode, codes),
        eq(tickets.mode, first.seller.mode),
        hasLiveCode,
      ),
    )
  return new Set(taken.map(({ qrCode }) => qrCode))
}

/** Locks the stock rows of the jobs until the transaction ends, in the order of their ids, so that two
 *  transactions can't deadlock. Returns what is left of each rate, price and
 *  discount. */
async function lockStock(tx: Connection, jobs: HoldJob[]): Promise<Map<string, number>> {
  const rows = await tx
    .select()
    .from(stock)
    .where(and(isOfSale, anyOf(stock.id, 'ids')))
    .orderBy(asc(stock.id), asc(stock.kind))
    .for('update')
    .prepare('lock_stock')
    .execute({
      organizationId: organizationOf(jobs),
      mode: modeOf(jobs),
      ids: movesOf(jobs).map(({ id }) => id),
    })
  return new Map(rows.map((row) => [counterOf(row), leftOf(row) ?? Number.POSITIVE_INFINITY]))
}

// Pays the checkouts of jobs that are paid at once. Returns all checkouts in their current state.
async function payAtOnce(
  tx: Connection,
  jobs: HoldJob[],
  checkouts: (Checkout | null)[],
): Promise<(Checkout | null)[]> {
  const due = checkouts.flatMap((checkout, index) => {
    const job = jobs[index]
    const isPublic = job !== undefined && 'isPublic' in job.seller && job.seller.isPublic
    return checkout && job && isPaidAtOnce(job) ? [{ ...checkout, isPublic }] : []
  })
  await chargeAtBoxOffice(
    tx,
    due.map(({ payment }) => payment),
  )
  const paid = new Map(
    (await recordPaid(tx, due, 'held'))?.map((checkout) => [checkout.payment.id, checkout]),
  )
  return checkouts.map((checkout) => checkout && (paid.get(checkout.payment.id) ?? checkout))
}

/** Holds planned checkouts of one rate and mode, job by job, first come, first served: a small one may fit
 *  where a large one before it did not. Takes one transaction, which waits for the lock of the rate's stock.
 *  Each job is held whole or not at all, and a refusal of one affects no other.
 *
 *  A rule across checkouts (tickets per buyer, say) belongs here, under the lock, and nowhere else: only here
 *  can it read what every other checkout of the rate has done. Add its jobs to `needsExact`, so that no
 *  optimistic statement holds them.
 *  Refuses: IDEMPOTENCY_KEY_IN_USE, QR_CODE_TAKEN (INTERFACE, checkout; DECISIONS 4). */
export async function holdStock(db: Database, jobs: HoldJob[]): Promise<HoldOutcome[]> {
  return transaction(db, async (tx) => {
    const keys = await lockKeys(
      tx,
      organizationOf(jobs),
      jobs.flatMap(({ idempotency }) => idempotency ?? []),
    )
    const left = await lockStock(tx, jobs)
    const ledger = new Ledger(keys, await findTakenCodes(tx, jobs), left)
    const decisions = jobs.map((job) => ledger.take(job))
    const fitting = jobs.filter((_, index) => decisions[index] === 'taken')
    const held = fitting.length > 0 ? await writeHolds(tx, fitting, 'exact') : []
    const mode = modeOf(jobs)
    const moves = movesOf(fitting)
    announceRates(tx, mode, moves)
    const usedUp = moves.flatMap((move) => (ledger.isUsedUp(move) ? { ...move, usedUp: true } : []))
    await recordAvailability(tx, organizationOf(jobs), mode, usedUp)
    const checkouts = await payAtOnce(tx, fitting, held)
    return decisions.map((decision) => {
      if (decision !== 'taken') return decision
      const checkout = checkouts.shift()
      if (!checkout) throw new Error('a job that fits was not held under its lock')
      return checkout
    })
  })
}
