import { and, asc, eq, exists, inArray, not, type SQL, sql } from 'drizzle-orm'
import { readByOrganization } from '../../../data/by-organization.ts'
import { anyOf, inOrganization, statement } from '../../../data/prepared.ts'
import type { Connection, Database } from '../../../database/database.ts'
import { transaction } from '../../../database/transaction.ts'
import { groupBy } from '../../../shared/group-by.ts'
import type { Discount } from '../../discount/table.ts'
import type { PaymentName } from '../../payment/lock-payment.ts'
import { paymentChange } from '../../payment/payment-change.ts'
import { idempotencyKeys, isFresh, isOverdue, type Payment, payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import { tickets } from '../../ticket/table.ts'
import { moveStock, stockMoves } from '../../ticket-rate/move-stock.ts'
import type { TicketRate } from '../../ticket-rate/table.ts'
import { recordAvailability, recordChanges } from '../record-changes.ts'

/** Unpaid payment, and the status it ends with. */
export type Ending = PaymentName & { status: 'failed' | 'expired' | 'cancelled' }

async function endAs(
  tx: Connection,
  organizationId: string,
  status: Ending['status'],
  endings: Ending[],
): Promise<Payment[]> {
  const ids = endings.filter((ending) => ending.status === status).map(({ id }) => id)
  if (ids.length === 0) return []
  return (
    tx
      .update(payments)
      // Makes the provider session due to be closed, so that nobody can pay there any more.
      .set({ status, sessionDueAt: sql`now()` })
      .where(and(eq(payments.organizationId, organizationId), inArray(payments.id, ids), canBecome(status)))
      .returning()
  )
}

/** Ends unpaid payments of one organization and releases the stock that they hold. Requires this transaction
 *  to hold their row locks. */
export async function releaseHolds(tx: Connection, endings: Ending[]): Promise<void> {
  const [first] = endings
  if (!first) return
  const { organizationId } = first
  const failed = await endAs(tx, organizationId, 'failed', endings)
  const expired = await endAs(tx, organizationId, 'expired', endings)
  await endAs(tx, organizationId, 'cancelled', endings)
  // No change for cancelled payments: the client that cancels knows.
  await recordChanges(tx, [
    ...failed.map((payment) => paymentChange('payment.failed', payment)),
    ...expired.map((payment) => paymentChange('payment.expired', payment)),
  ])
  const ids = endings.map(({ id }) => id)
  const released = await tx
    .update(tickets)
    .set({ status: 'expired' })
    .where(
      and(
        eq(tickets.organizationId, organizationId),
        inArray(tickets.paymentId, ids),
        eq(tickets.status, 'held'),
      ),
    )
    .returning({
      ticketRateId: tickets.ticketRateId,
      priceId: tickets.priceId,
      discountId: tickets.discountId,
      mode: tickets.mode,
    })
  const flipped = await moveStock(tx, organizationId, stockMoves(released, { held: -1 }))
  if (!flipped) throw new Error('stock of held tickets could not be released')
  await recordAvailability(tx, organizationId, flipped)
}

const toExpired = (payment: PaymentName): Ending => ({ ...payment, status: 'expired' })

const overdue = { id: payments.id, organizationId: payments.organizationId }

// Locks those of an organization's payments that are still overdue, and expires them. Resolves to their
// number.
const expireOf = (
  db: Database,
  organizationId: string,
  found: PaymentName[],
  onLocked: 'wait' | 'skip',
): Promise<number> =>
  transaction(db, async (tx) => {
    const ids = found.map(({ id }) => id)
    const locked = await tx
      .select(overdue)
      .from(payments)
      .where(and(eq(payments.organizationId, organizationId), inArray(payments.id, ids), isOverdue))
      .orderBy(asc(payments.id))
      .for('update', onLocked === 'skip' ? { skipLocked: true } : {})
    await releaseHolds(tx, locked.map(toExpired))
    return locked.length
  })

async function expireFound(db: Database, found: PaymentName[], onLocked: 'wait' | 'skip'): Promise<number> {
  let expired = 0
  for (const [organizationId, own] of groupBy(found, ({ organizationId }) => organizationId))
    expired += await expireOf(db, organizationId, own, onLocked)
  return expired
}

/** Expires up to `limit` overdue payments, in a transaction for each organization, and returns their number.
 *  Safe to run in many processes: each skips rows that another has locked (DECISIONS 5). */
export async function expireHolds(db: Database, limit: number): Promise<number> {
  const found = await db
    .select(overdue)
    .from(payments)
    .where(isOverdue)
    .orderBy(asc(payments.expiresAt), asc(payments.id))
    .limit(limit)
  return expireFound(db, found, 'skip')
}

// Waits for other processes that are expiring them already.
async function expireHoldsWhere(db: Database, organizationId: string, condition: SQL): Promise<void> {
  const found = await db
    .select(overdue)
    .from(payments)
    .where(and(eq(payments.organizationId, organizationId), isOverdue, condition))
  await expireFound(db, found, 'wait')
}

/** Expires the overdue holds of one rate, for a checkout that finds it full. Waits for other processes that
 *  are expiring them already. */
export const expireHoldsOf = (
  db: Database,
  { id, organizationId }: Pick<TicketRate, 'id' | 'organizationId'>,
): Promise<void> => expireHoldsWhere(db, organizationId, eq(payments.ticketRateId, id))

// Checkouts of one turn of the event loop that find discounts used up share one statement.
const findOverdueUses = readByOrganization<boolean>(async (db, organizationId, discountIds) => {
  const found = await statement(db, 'discounts_of_overdue_holds', (db) =>
    db
      .selectDistinct({ id: sql<string>`${tickets.discountId}` })
      .from(payments)
      .innerJoin(
        tickets,
        and(eq(tickets.organizationId, payments.organizationId), eq(tickets.paymentId, payments.id)),
      )
      .where(
        and(inOrganization(payments.organizationId), isOverdue, anyOf(tickets.discountId, 'discountIds')),
      ),
  ).execute({ organizationId, discountIds })
  return new Map(found.map(({ id }) => [id, true]))
})

/** Expires the overdue holds of any rate that take up uses of a discount, for a checkout that finds it used
 *  up. Waits for other processes that are expiring them already. Returns false if there were none. */
export async function expireHoldsWith(
  db: Database,
  { id, organizationId }: Pick<Discount, 'id' | 'organizationId'>,
): Promise<boolean> {
  if (!(await findOverdueUses(db, organizationId, id))) return false
  const ofDiscount = db
    .select({ one: sql`1` })
    .from(tickets)
    .where(
      and(
        eq(tickets.organizationId, payments.organizationId),
        eq(tickets.paymentId, payments.id),
        eq(tickets.discountId, id),
      ),
    )
  await expireHoldsWhere(db, organizationId, exists(ofDiscount))
  return true
}

const batchSize = 100

/** Expires all overdue holds, and deletes idempotency keys older than 24 hours. Safe to run in many
 *  processes. */
export async function sweepHolds(db: Database): Promise<void> {
  while ((await expireHolds(db, batchSize)) === batchSize);
  await db.delete(idempotencyKeys).where(not(isFresh))
}
