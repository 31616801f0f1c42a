import { and, inArray, sql } from 'drizzle-orm'
import { deferred } from '../../../data/batch-queue.ts'
import { invalidateCatalogue } from '../../../database/catalogue-version.ts'
import type { Connection, Database } from '../../../database/database.ts'
import { lockPayments } from '../../payment/lock-payment.ts'
import { payments, providerEvents } from '../../payment/table.ts'
import { endUnpaid } from './end-unpaid.ts'
import { receiveMoney } from './receive-money.ts'
import {
  endsSession,
  isOwn,
  type LockedSettlement,
  type Settled,
  type Settlement,
  settlesAlone,
} from './settlement.ts'

type Outcome = Settled | typeof deferred

// The first settlement of each payment, of those whose payment could be locked.
async function lockSettlements(tx: Connection, group: Settlement[], onLocked: 'wait' | 'skip') {
  const ids = [...new Set(group.map(({ payment }) => payment.id))]
  const locked = await lockPayments(tx, ids, onLocked)
  const taken = new Map<Settlement, LockedSettlement>()
  for (const settlement of group) {
    const payment = locked.get(settlement.payment.id)
    if (!payment) {
      if (onLocked === 'wait') throw new Error(`payment ${settlement.payment.id} not found`)
      continue
    }
    // What else is told of it comes after.
    locked.delete(payment.id)
    const one = { settlement, payment }
    if (group.length === 1 || !settlesAlone(one)) taken.set(settlement, one)
  }
  return taken
}

// Events that are told for the first time. Another transaction that has just written the same is waited for.
async function recordEvents(tx: Connection, taken: LockedSettlement[]): Promise<LockedSettlement[]> {
  const told = taken.flatMap(({ settlement: { event, payment } }) =>
    event ? [{ ...event, paymentId: payment.id }] : [],
  )
  if (told.length === 0) return taken
  const written = await tx
    .insert(providerEvents)
    .values(told)
    .onConflictDoNothing()
    .returning({ id: providerEvents.id })
  const news = new Set(written.map(({ id }) => id))
  return taken.filter(({ settlement: { event } }) => !event || news.has(event.id))
}

// A session that is not the one its buyer was sent to is due to be ended at the provider.
async function closeSessionsOf(tx: Connection, told: LockedSettlement[]): Promise<void> {
  const ended = told.filter(({ settlement }) => endsSession(settlement))
  const idsOf = (sessions: LockedSettlement[]) => sessions.map(({ payment }) => payment.id)
  const [own, others] = [idsOf(ended.filter(isOwn)), idsOf(ended.filter((one) => !isOwn(one)))]
  if (own.length > 0)
    await tx
      .update(payments)
      .set({ sessionOpen: false })
      .where(and(inArray(payments.id, own), payments.sessionOpen))
  if (others.length > 0)
    await tx.update(payments).set({ sessionDueAt: sql`now()` }).where(inArray(payments.id, others))
}

/** Settles payments of one rate in one transaction, all with money or all without: each becomes what it is told to,
 *  unless it may not, as if it were settled by itself. Deferred, and untouched, are payments that somebody else has
 *  locked, where those are skipped, the second settlement of a payment, and late or mismatching money that does not come
 *  alone. */
export async function settleGroup(
  db: Database,
  group: Settlement[],
  onLocked: 'wait' | 'skip',
): Promise<Outcome[]> {
  const { outcomes, touched } = await db.transaction(async (tx) => {
    const taken = await lockSettlements(tx, group, onLocked)
    const told = await recordEvents(tx, [...taken.values()])
    const withMoney = told.filter(({ settlement }) => settlement.outcome.kind === 'paid')
    const { statuses, touched } =
      withMoney.length > 0 ? await receiveMoney(tx, withMoney) : await endUnpaid(tx, told)
    await closeSessionsOf(tx, told)
    const news = new Set(told)
    const outcomes = group.map((settlement): Outcome => {
      const one = taken.get(settlement)
      if (!one) return deferred
      const { id, status } = one.payment
      return { status: statuses.get(id) ?? status, isRepeated: !news.has(one) }
    })
    return { outcomes, touched }
  })
  if (touched) invalidateCatalogue(db)
  return outcomes
}
