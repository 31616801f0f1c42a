import { and, asc, eq, exists, inArray, lte, not, type SQL, sql } from 'drizzle-orm'
import { readByOrganization } from '../../../data/by-organization.ts'
import { anyOf, inOrganization, query } from '../../../data/query.ts'
import { nowMs } from '../../../database/clock.ts'
import type { Database } from '../../../database/database.ts'
import { transaction } from '../../../database/transaction.ts'
import { groupBy } from '../../../shared/group-by.ts'
import type { Discount } from '../../discount/table.ts'
import type { PaymentName } from '../../payment/lock-payment.ts'
import { holds, isOfHold } from '../../payment/queue/table.ts'
import { idempotencyKeys, isFresh, isOverdue, payments } from '../../payment/table.ts'
import { tickets } from '../../ticket/table.ts'
import type { TicketRate } from '../../ticket-rate/table.ts'
import { releaseHolds } from './release-holds.ts'

// Payments by what is queued of them: each is looked at again under its lock.
const findOverdue = (db: Database, condition?: SQL) =>
  db
    .select({ id: holds.paymentId, organizationId: holds.organizationId })
    .from(holds)
    .where(and(lte(holds.expiresAt, nowMs), condition))

// Locks those payments that are still overdue, and expires them, organization by organization. Resolves to their
// number.
async function expireFound(db: Database, found: PaymentName[], onLocked: 'wait' | 'skip'): Promise<number> {
  let expired = 0
  for (const [organizationId, own] of groupBy(found, ({ organizationId }) => organizationId)) {
    const ids = own.map(({ id }) => id)
    expired += await transaction(db, async (tx) => {
      const locked = await tx
        .select({ id: payments.id, organizationId: payments.organizationId })
        .from(payments)
        .where(and(eq(payments.organizationId, organizationId), inArray(payments.id, ids), isOverdue))
        .orderBy(asc(payments.id))
        .for('update', onLocked === 'skip' ? { skipLocked: true } : {})
      await releaseHolds(
        tx,
        locked.map((payment) => ({ ...payment, status: 'expired' })),
      )
      return locked.length
    })
  }
  return expired
}

/** Expires up to `limit` overdue payments, in a transaction for each organization, and returns their number.
 *  Safe to run in many processes: each skips rows that another has locked (DECISIONS 5). */
export const expireHolds = async (db: Database, limit: number): Promise<number> =>
  expireFound(db, await findOverdue(db).orderBy(asc(holds.expiresAt)).limit(limit), 'skip')

// Waits for other processes that are expiring them already.
async function expireHoldsWhere(db: Database, organizationId: string, condition: SQL): Promise<void> {
  const found = await findOverdue(db, and(eq(holds.organizationId, organizationId), condition))
  await expireFound(db, found, 'wait')
}

/** Expires the overdue holds of one rate, for a checkout that finds it full. Waits for other processes that
 *  are expiring them already. */
export const expireHoldsOf = (
  db: Database,
  { id, organizationId }: Pick<TicketRate, 'id' | 'organizationId'>,
): Promise<void> => expireHoldsWhere(db, organizationId, eq(holds.ticketRateId, id))

const overdueUses = query<{ id: string }>(
  'discounts_of_overdue_holds',
  () => sql`select distinct ${tickets.discountId} as id
    from ${holds} join ${payments} on ${isOfHold} and ${isOverdue}
      join ${tickets} on ${tickets.organizationId} = ${payments.organizationId} and ${tickets.paymentId} = ${payments.id}
    where ${inOrganization(holds.organizationId)} and ${holds.expiresAt} <= ${nowMs} and ${anyOf(tickets.discountId, 'discountIds')}`,
)

// Checkouts of one turn of the event loop that find discounts used up share one statement.
const findOverdueUses = readByOrganization<boolean>(async (db, organizationId, discountIds) => {
  const found = await overdueUses(db, { organizationId, discountIds })
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
        eq(tickets.organizationId, holds.organizationId),
        eq(tickets.paymentId, holds.paymentId),
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
