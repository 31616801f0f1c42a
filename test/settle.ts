import { eq } from 'drizzle-orm'
import type { Database } from '../src/database.ts'
import type { Outcome } from '../src/payment/provider.ts'
import { settlePayment as settle } from '../src/payment/settle-payment.ts'
import { type Payment, payments } from '../src/payment/table.ts'

/** Settles a payment by its identifier alone, and gives its status. */
export async function settlePayment(
  db: Database,
  paymentId: string,
  outcome: Outcome,
): Promise<Payment['status']> {
  const [payment] = await db.select().from(payments).where(eq(payments.id, paymentId))
  if (!payment) throw new Error(`payment ${paymentId} not found`)
  return (await settle(db, { payment, outcome })).status
}
