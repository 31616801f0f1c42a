import { and, asc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { byId } from '../../engine/base/group-by.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { hasKey, ownById, query } from '../../engine/data/query.ts'
import { nowMs } from '../../engine/database/clock.ts'
import type { Connection } from '../../engine/database/database.ts'
import { type Payment, payments } from './table.ts'

/** Payment whose row stays locked until the transaction ends. `isOverdue` if its hold has ended by the
 *  database's clock. */
export type LockedPayment = Payment & { isOverdue: boolean }

const rows = rowsOf({
  ...getTableColumns(payments),
  isOverdue: sql<boolean>`${payments.expiresAt} <= ${nowMs}`,
})

/** Whether to wait for rows that others have locked, or to skip them. */
export type OnLocked = 'wait' | 'skip'

const locking = (name: string, onLocked: OnLocked) =>
  query(name, {
    rows,
    query: (select, keys) =>
      ownById(payments)(select, keys)
        .orderBy(asc(payments.id))
        .for('update', onLocked === 'skip' ? { skipLocked: true } : {}),
  })

const lock = { wait: locking('lock_payments', 'wait'), skip: locking('lock_payments_not_locked', 'skip') }

/** Locks payments of an organization in the order of their ids, so that two transactions can't deadlock.
 *  Waits for rows that are locked, or skips them. Returns the payments by id. */
export async function lockPayments(
  tx: Connection,
  organizationId: string,
  ids: string[],
  onLocked: OnLocked,
) {
  return byId<LockedPayment>(await lock[onLocked](tx, { organizationId, keys: ids }))
}

/** Primary key of a payment. */
export type PaymentName = Pick<Payment, 'id' | 'organizationId'>

/** Condition that matches a payment by its primary key. */
export const isPayment = ({ id, organizationId }: PaymentName): SQL | undefined =>
  and(eq(payments.organizationId, organizationId), eq(payments.id, id))

/** Condition that matches payments of an organization. */
export const arePayments = (connection: Connection, organizationId: string, ids: string[]): SQL =>
  hasKey(connection, payments.id, organizationId, ids)

/** Locks one payment, which must exist. */
export async function lockPayment(tx: Connection, { id, organizationId }: PaymentName) {
  const payment = (await lockPayments(tx, organizationId, [id], 'wait')).get(id)
  if (!payment) throw new Error(`payment ${id} not found`)
  return payment
}
