import { and, eq, inArray } from 'drizzle-orm'
import { deferred, joinWrites } from '../../../engine/data/join-writes.ts'
import { hasKey } from '../../../engine/data/query.ts'
import { inSeconds } from '../../../engine/database/clock.ts'
import { type Connection, type Database, isLockTimeout } from '../../../engine/database/database.ts'
import {
  announceOnCommit,
  atOnce,
  limitLockWaits,
  transaction,
} from '../../../engine/database/transaction.ts'
import { nameInMode } from '../../caller/mode.ts'
import { arePayments, lockPayments, type OnLocked } from '../../payment/lock-payment.ts'
import { closeSessionsNow, dropSessions } from '../../payment/queue/follow-payments.ts'
import { expiries } from '../../payment/queue/table.ts'
import { payments } from '../../payment/table.ts'
import { rateInMode } from '../../stock/table.ts'
import { tickets } from '../../ticket/table.ts'
import { type Ending, releaseHolds } from '../release/release-holds.ts'
import { paymentMayBecome, wherePaymentMayBecome } from '../transitions.ts'
import { applyCharges } from './apply-charges.ts'
import { recordProviderEvents } from './record-charges.ts'
import {
  endsSession,
  isOfCurrentSession,
  type LockedSettlement,
  mustSettleAlone,
  type SettledStatuses,
  type Settlement,
  type SettlementResult,
  takesEffect,
} from './settlement.ts'

// A provider that has not decided by then is given up on: a charge after that is late.
const maxProcessingSeconds = 7 * 24 * 3600

// Makes payments wait for a bank, and moves their holds with them.
async function startProcessing(tx: Connection, undecided: LockedSettlement[]): Promise<string[]> {
  const [first] = undecided
  if (!first) return []
  const { organizationId } = first.payment
  const ids = undecided.map(({ payment }) => payment.id)
  const expiresAt = inSeconds(maxProcessingSeconds)
  const processing = await tx
    .update(payments)
    .set({ status: 'processing', expiresAt })
    .where(and(arePayments(tx, organizationId, ids), wherePaymentMayBecome('processing')))
    .returning({ id: payments.id })
  const moved = processing.map(({ id }) => id)
  announceOnCommit(tx, 'payments', moved)
  const areTheirs = and(
    hasKey(tx, tickets.paymentId, organizationId, moved),
    eq(expiries.organizationId, tickets.organizationId),
    eq(expiries.paymentId, tickets.paymentId),
    eq(expiries.priceId, tickets.priceId),
    eq(expiries.mode, tickets.mode),
    // Their ends so far, by which the queue is ordered.
    inArray(
      expiries.expiresAt,
      undecided.map(({ payment }) => payment.expiresAt),
    ),
  )
  await tx.update(expiries).set({ expiresAt }).from(tickets).where(areTheirs)
  return moved
}

function toEnding({ settlement: { outcome }, payment }: LockedSettlement): Ending[] {
  if (outcome.kind !== 'ended') return []
  const { id, organizationId, isOverdue } = payment
  const status = payment.status === 'pending' && isOverdue ? 'expired' : outcome.status
  return paymentMayBecome(payment.status, status) ? [{ id, organizationId, status }] : []
}

/** Ends locked payments of one organization without a charge, or makes them `processing`. Transitions that a
 *  payment's status does not allow change nothing. A pending payment that is overdue by the database's clock
 *  expires (DECISIONS, states). */
async function endUnpaid(tx: Connection, settlements: LockedSettlement[]): Promise<SettledStatuses> {
  const undecided = settlements.filter(({ settlement }) => settlement.outcome.kind === 'processing')
  const statuses: SettledStatuses = new Map()
  for (const id of await startProcessing(tx, undecided)) statuses.set(id, 'processing')
  const endings = settlements.flatMap(toEnding)
  await releaseHolds(tx, endings)
  for (const { id, status } of endings) statuses.set(id, status)
  return statuses
}

type Settled = SettlementResult | typeof deferred

const organizationOf = ([first]: Settlement[]): string => first?.payment.organizationId ?? ''

// Locks payments and returns the first settlement of each. Leaves out payments that are locked elsewhere, and
// settlements that have to run alone.
async function lockSettlements(tx: Connection, group: Settlement[], onLocked: OnLocked) {
  const ids = [...new Set(group.map(({ payment }) => payment.id))]
  const locked = await lockPayments(tx, organizationOf(group), ids, onLocked)
  const taken = new Map<Settlement, LockedSettlement>()
  for (const settlement of group) {
    const payment = locked.get(settlement.payment.id)
    if (!payment) continue
    // Further settlements of the same payment are deferred.
    locked.delete(payment.id)
    const lockedSettlement = { settlement, payment }
    if (group.length === 1 || !mustSettleAlone(lockedSettlement)) taken.set(settlement, lockedSettlement)
  }
  return taken
}

// Records events and drops settlements whose event is a duplicate.
async function recordEvents(tx: Connection, taken: LockedSettlement[]): Promise<LockedSettlement[]> {
  const events = taken.flatMap(({ settlement: { event, payment } }) =>
    event ? [{ ...event, organizationId: payment.organizationId, paymentId: payment.id }] : [],
  )
  if (events.length === 0) return taken
  const newIds = await recordProviderEvents(tx, events)
  return taken.filter(({ settlement: { event } }) => !event || newIds.has(event.id))
}

// Marks the sessions that have ended, but for those of payments that were just paid, which closes them. A charge of
// another session than the buyer's makes the buyer's due to be closed at the provider.
async function closeSessionsOf(
  tx: Connection,
  organizationId: string,
  settlements: LockedSettlement[],
  statuses: SettledStatuses,
): Promise<void> {
  const ended = settlements.filter(({ settlement }) => endsSession(settlement))
  const ids = ended.filter(isOfCurrentSession).map(({ payment }) => payment.id)
  const own = ids.filter((id) => statuses.get(id) !== 'paid')
  if (own.length > 0) {
    const areOpen = and(arePayments(tx, organizationId, own), payments.sessionOpen)
    await dropSessions(tx, await tx.update(payments).set({ sessionOpen: false }).where(areOpen).returning())
  }
  const others = ended.filter((locked) => !isOfCurrentSession(locked)).map(({ payment }) => payment)
  await closeSessionsNow(tx, others)
}

/** Settles payments of one organization and mode in one transaction, either all with a charge or all without. Each has
 *  the outcome that it would have by itself. Defers, and leaves untouched: payments that are locked elsewhere
 *  (with `skip`), second settlements of a payment, and late or mismatching charges, unless they come
 *  alone. Waits for each lock for `maxLockWait` milliseconds at most. */
export const settleInTransaction = (
  db: Database,
  group: Settlement[],
  onLocked: OnLocked,
  maxLockWait?: number,
) =>
  transaction(db, async (tx) => {
    const [, taken] = await atOnce(
      maxLockWait === undefined ? Promise.resolve() : limitLockWaits(tx, maxLockWait),
      lockSettlements(tx, group, onLocked),
    )
    const applied = new Set(await recordEvents(tx, [...taken.values()]))
    const effective = [...applied].filter(takesEffect)
    const withCharge = effective.filter(({ settlement }) => settlement.outcome.kind === 'paid')
    const statuses =
      withCharge.length > 0 ? await applyCharges(tx, withCharge) : await endUnpaid(tx, effective)
    await closeSessionsOf(tx, organizationOf(group), effective, statuses)
    return group.map((settlement): Settled => {
      const locked = taken.get(settlement)
      if (!locked) return deferred
      const { id, status } = locked.payment
      return { status: statuses.get(id) ?? status, isRepeated: !applied.has(locked) }
    })
  })

// Paying takes its locks in another order than ending.
const inKind = (name: string, { outcome }: Settlement) =>
  `${name} ${outcome.kind === 'paid' ? 'paid' : 'ended'}`

// Two groups of organizations, four of rates and two deferred settlements at a time: a rush of payments leaves the other
// connections to everybody else.
const queue = joinWrites<Settlement, SettlementResult>('payments', settleInTransaction, {
  maxAlone: 4,
  maxOfKey: 1,
  maxWaiting: 2_000,
  ownerOf: ({ payment }) => nameInMode(payment, payment.organizationId),
  mixed: {
    // Payments of any rates of an organization. Checkouts lock a counter for some milliseconds; if somebody locks one for
    // longer, the payments of all other rates must not wait for it, so that all are deferred, and those of each rate are
    // settled by themselves.
    write: (db, group) =>
      settleInTransaction(db, group, 'skip', 100).catch((error: unknown) => {
        if (isLockTimeout(error)) return group.map(() => deferred)
        throw error
      }),
    familyOf: (settlement) =>
      inKind(nameInMode(settlement.payment, settlement.payment.organizationId), settlement),
  },
  words: 'Too many payments of this rate at once. Try again.',
  ifFast: 'settle-together',
})

/** Settles a payment with an outcome from its provider or its buyer, and returns its current status.
 *  Settlements that arrive while others of their organization and mode run are batched, in order, into one transaction;
 *  each is atomic and has the outcome that it would have alone. If they would wait for a counter for long, those of each
 *  rate are batched by themselves. A payment that is locked elsewhere, a second settlement of one, and a late or
 *  mismatching charge are deferred and settled one by one. Transitions that the status does not allow change nothing, but a
 *  charge is never lost: see applyCharges. Slow form: each alone. Refuses: BUSY if too many of a rate wait. */
export function settlePayment(db: Database, settlement: Settlement): Promise<SettlementResult> {
  const { mode, ticketRateId } = settlement.payment
  return queue(db, inKind(rateInMode(mode, ticketRateId), settlement), settlement)
}
