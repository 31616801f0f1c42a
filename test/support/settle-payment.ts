import { and, eq, getTableColumns } from 'drizzle-orm'
import type { PaymentOutcome } from '../../src/domain/payment/provider.ts'
import { type Payment, payments } from '../../src/domain/payment/table.ts'
import { settlePayment as settle } from '../../src/domain/sale/settle/settle-payment.ts'
import { tickets } from '../../src/domain/ticket/table.ts'
import type { Database } from '../../src/engine/database/database.ts'

/** Settles the payment with this ID and returns its new status. */
export async function settlePaymentById(
  db: Database,
  paymentId: string,
  outcome: PaymentOutcome,
): Promise<Payment['status']> {
  const [payment] = await db
    .select({ ...getTableColumns(payments), ticketRateId: tickets.ticketRateId })
    .from(payments)
    .innerJoin(
      tickets,
      and(eq(tickets.organizationId, payments.organizationId), eq(tickets.paymentId, payments.id)),
    )
    .where(eq(payments.id, paymentId))
  if (!payment) throw new Error(`payment ${paymentId} not found`)
  return (await settle(db, { payment, outcome })).status
}
