import { eq, getTableColumns, sql } from 'drizzle-orm'
import type { Connection } from '../database.ts'
import { present } from '../due.ts'
import { type Payment, payments } from './table.ts'

/** A payment whose row stays locked until the transaction ends,
 *  and whether its time is over by the database's clock. */
export async function lockPayment(
  tx: Connection,
  paymentId: string,
): Promise<Payment & { isOverdue: boolean }> {
  const [payment] = await tx
    .select({ ...getTableColumns(payments), isOverdue: sql<boolean>`${payments.expiresAt} <= ${present}` })
    .from(payments)
    .where(eq(payments.id, paymentId))
    .for('update')
  if (!payment) throw new Error('a payment that something becomes of exists')
  return payment
}
