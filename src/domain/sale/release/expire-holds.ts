import { and, eq, lte, not, type SQL, sql } from 'drizzle-orm'
import { byOrganization, findEverywhere, readByOrganization } from '../../../engine/data/by-organization.ts'
import { claimByOrganization, findDue } from '../../../engine/data/leased-jobs.ts'
import { inOrganization, query, textArrayParam } from '../../../engine/data/query.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import { type Database, runSql } from '../../../engine/database/database.ts'
import { transaction } from '../../../engine/database/transaction.ts'
import { type Mode, perMode } from '../../caller/mode.ts'
import { isInMode } from '../../caller/sold.ts'
import { lockPayments, type OnLocked } from '../../payment/lock-payment.ts'
import { expiries, isOfExpiry } from '../../payment/queue/table.ts'
import { idempotencyKeys, isFresh, isOverdue, payments } from '../../payment/table.ts'
import { paymentMayBecome } from '../../payment/transitions.ts'
import { type Ending, releaseHolds } from './release-holds.ts'

/** Expires up to `limit` overdue payments, in a transaction for each organization, and returns their number.
 *  Safe to run in many processes: each skips rows that another has locked (DECISIONS, states). */
export async function expireHolds(db: Database, limit: number): Promise<number> {
  const isDue = lte(expiries.expiresAt, nowMs)
  const found = await findDue(db, expiries, expiries.expiresAt, isDue, limit, expiries.paymentId)
  const expired = await claimByOrganization(found, (organizationId, own) =>
    transaction(db, async (tx) => {
      const ids = own.map(({ id }) => id)
      const locked = await lockPayments(tx, organizationId, ids, 'skip')
      // The queue may be behind.
      const endings = [...locked.values()].flatMap(({ id, status, isOverdue }): Ending[] =>
        isOverdue && paymentMayBecome(status, 'expired') ? [{ id, organizationId, status: 'expired' }] : [],
      )
      await releaseHolds(tx, endings)
      return endings
    }),
  )
  return expired.length
}

/** Column that says whose places or uses overdue holds take up: those of prices, or of discounts. */
export type HeldBy = 'priceId' | 'discountId'

// Locks the payments of overdue holds, the longest overdue ones first, `limit` of each price or discount.
const lockOverdue = (by: HeldBy, onLocked: OnLocked) =>
  query<{ id: string }>(
    `lock_overdue_by_${by}_${onLocked}`,
    () => sql`select locked.id from unnest(${textArrayParam('keys')}) as key cross join lateral (
      select ${payments.id} from ${expiries} join ${payments} on ${isOfExpiry}
      where ${inOrganization(expiries.organizationId)} and ${inOrganization(payments.organizationId)}
        and ${expiries[by]} = key and ${isInMode(expiries.mode)} and ${expiries.expiresAt} <= ${nowMs} and ${isOverdue}
      order by ${expiries.expiresAt} limit ${sql.placeholder('limit')}::integer
      for update of ${payments} ${sql.raw(onLocked === 'skip' ? 'skip locked' : '')}) as locked`,
  )

// So few that nobody waits for them, and more than most checkouts need, so that the next ones find places.
const leastAtOnce = 5

/** Expires overdue holds for a checkout that finds too little left of prices or discounts: of each as many as it has
 *  tickets, or a few more, those that no other process is expiring. If there are no others, it waits for one of those.
 *  Each frees a place at its price and in its rate, or a use of its discount. */
export function expireHoldsBy(
  db: Database,
  by: HeldBy,
  { count, ...values }: { organizationId: string; mode: Mode; keys: string[]; count: number },
): Promise<void> {
  const { organizationId, keys } = values
  return transaction(db, async (tx) => {
    let found = await lockOverdue(by, 'skip')(tx, { ...values, limit: Math.max(count, leastAtOnce) })
    // One, so that whoever waits has locked nothing that another may wait for.
    if (found.length === 0)
      found = await lockOverdue(by, 'wait')(tx, { ...values, keys: keys.slice(0, 1), limit: 1 })
    await releaseHolds(
      tx,
      found.map(({ id }) => ({ id, organizationId, status: 'expired' })),
    )
  })
}

const overdueUses = query<{ discountId: string }>(
  'discounts_with_overdue_holds',
  () => sql`select key as "discountId" from unnest(${textArrayParam('keys')}) as key where (
    select true from ${expiries} where ${inOrganization(expiries.organizationId)} and ${expiries.discountId} = key
      and ${isInMode(expiries.mode)} and ${expiries.expiresAt} <= ${nowMs} limit 1)`,
)

/** Reports whether overdue holds still take up uses of a discount. Checkouts of one turn of the event loop that find
 *  discounts used up share one statement. */
export const hasOverdueUses = perMode((mode) =>
  readByOrganization<boolean>(async (db, values) => {
    const found = await overdueUses(db, { ...values, mode })
    return new Map(found.map(({ discountId }) => [discountId, true]))
  }),
)

const batchSize = 100

/** Expires all overdue holds, and deletes idempotency keys older than 24 hours. Safe to run in many
 *  processes. */
export async function sweepHolds(db: Database): Promise<void> {
  while ((await expireHolds(db, batchSize)) > 0);
  const { organizationId } = idempotencyKeys
  const withOldKeys = (isAsked: SQL) =>
    sql`select distinct ${organizationId} as "organizationId" from ${idempotencyKeys} where ${isAsked} and ${not(isFresh)}`
  const old = await findEverywhere<{ organizationId: string }>(db, organizationId, withOldKeys)
  await byOrganization(db, old, (_, id) => {
    const isOwn = id === undefined ? undefined : eq(idempotencyKeys.organizationId, id)
    return runSql(db, sql`delete from ${idempotencyKeys} where ${and(isOwn, not(isFresh))}`)
  })
}
