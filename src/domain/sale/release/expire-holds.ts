import { and, eq, lte, not, type SQL, sql } from 'drizzle-orm'
import { byOrganization, findEverywhere, readByOrganization } from '../../../data/by-organization.ts'
import { findDue } from '../../../data/leased-jobs.ts'
import { anyOf, inOrganization, query } from '../../../data/query.ts'
import { nowMs } from '../../../database/clock.ts'
import { type Database, runSql } from '../../../database/database.ts'
import { transaction } from '../../../database/transaction.ts'
import { groupBy } from '../../../shared/group-by.ts'
import type { Discount } from '../../discount/table.ts'
import { lockPayments, type OnLocked, type PaymentName } from '../../payment/lock-payment.ts'
import { holds, isOfHold } from '../../payment/queue/table.ts'
import { idempotencyKeys, isFresh, isOverdue, payments } from '../../payment/table.ts'
import { paymentMayBecome } from '../../payment/transitions.ts'
import { tickets } from '../../ticket/table.ts'
import type { TicketRate } from '../../ticket-rate/table.ts'
import { type Ending, releaseHolds } from './release-holds.ts'

// Locks these payments, and expires those that are still overdue, organization by organization: the queue may be behind.
// Resolves to their number.
async function expireFound(db: Database, found: PaymentName[], onLocked: OnLocked): Promise<number> {
  let expired = 0
  for (const [organizationId, own] of groupBy(found, ({ organizationId }) => organizationId)) {
    const ids = own.map(({ id }) => id)
    expired += await transaction(db, async (tx) => {
      const locked = await lockPayments(tx, organizationId, ids, onLocked)
      const endings = [...locked.values()].flatMap(({ id, status, isOverdue }): Ending[] =>
        isOverdue && paymentMayBecome(status, 'expired') ? [{ id, organizationId, status: 'expired' }] : [],
      )
      await releaseHolds(tx, endings)
      return endings.length
    })
  }
  return expired
}

/** Expires up to `limit` overdue payments, in a transaction for each organization, and returns their number.
 *  Safe to run in many processes: each skips rows that another has locked (DECISIONS 5). */
export async function expireHolds(db: Database, limit: number): Promise<number> {
  const isDue = lte(holds.expiresAt, nowMs)
  return expireFound(db, await findDue(db, holds, holds.expiresAt, isDue, limit, holds.paymentId), 'skip')
}

/** Expires the overdue holds of one rate, for a checkout that finds it full. Waits for other processes that
 *  are expiring them already. */
export async function expireHoldsOf(db: Database, { id, organizationId }: TicketRate) {
  const overdue = db.select({ id: holds.paymentId, organizationId: holds.organizationId }).from(holds)
  const isOfRate = and(eq(holds.organizationId, organizationId), eq(holds.ticketRateId, id))
  await expireFound(db, await overdue.where(and(isOfRate, lte(holds.expiresAt, nowMs))), 'wait')
}

const overdueUses = query<PaymentName & { discountId: string }>(
  'overdue_holds_of_discounts',
  () => sql`select distinct ${tickets.discountId} as "discountId", ${payments.id},
      ${payments.organizationId} as "organizationId"
    from ${holds} join ${payments} on ${isOfHold} and ${isOverdue}
      join ${tickets} on ${tickets.organizationId} = ${payments.organizationId} and ${tickets.paymentId} = ${payments.id}
    where ${inOrganization(holds.organizationId)} and ${holds.expiresAt} <= ${nowMs} and ${anyOf(tickets.discountId, 'keys')}`,
)

// Checkouts of one turn of the event loop that find discounts used up share one statement.
const findOverdueUses = readByOrganization<PaymentName[]>(async (db, values) =>
  groupBy(await overdueUses(db, values), ({ discountId }) => discountId),
)

/** Expires the overdue holds of any rate that take up uses of a discount, for a checkout that finds it used
 *  up. Waits for other processes that are expiring them already. Returns false if there were none. */
export async function expireHoldsWith(db: Database, { id, organizationId }: Discount) {
  const found = await findOverdueUses(db, organizationId, id)
  if (found) await expireFound(db, found, 'wait')
  return found !== null
}

const batchSize = 100

/** Expires all overdue holds, and deletes idempotency keys older than 24 hours. Safe to run in many
 *  processes. */
export async function sweepHolds(db: Database): Promise<void> {
  while ((await expireHolds(db, batchSize)) === batchSize);
  const { organizationId } = idempotencyKeys
  const withOldKeys = (isAsked: SQL) =>
    sql`select distinct ${organizationId} as "organizationId" from ${idempotencyKeys} where ${isAsked} and ${not(isFresh)}`
  const old = await findEverywhere<{ organizationId: string }>(db, organizationId, withOldKeys)
  await byOrganization(db, old, (_, id) => {
    const isOwn = id === undefined ? undefined : eq(idempotencyKeys.organizationId, id)
    return runSql(db, sql`delete from ${idempotencyKeys} where ${and(isOwn, not(isFresh))}`)
  })
}
