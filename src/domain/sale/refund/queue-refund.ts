import type { Connection } from '../../../database/database.ts'
import { newId } from '../../../shared/ids.ts'
import type { Charge, Payment } from '../../payment/table.ts'
import { type Refund, refunds } from '../../refund/table.ts'

/** Why money goes back that nobody asked for. */
export const automaticReasons = [
  'LATE_NO_CAPACITY',
  'CANCELLED',
  'PAID_TWICE',
  'AMOUNT_MISMATCH',
] as const satisfies Refund['reason'][]
export type MoneyBack = (typeof automaticReasons)[number]

/** Money that no ticket is given for: a charge of a payment, or a part of it, and why it goes back. Amount in minor
 *  units. */
export type Unearned = {
  payment: Pick<Payment, 'organizationId' | 'channelId'>
  charge: Pick<Charge, 'id' | 'paymentId' | 'amount' | 'currency'>
  reason: MoneyBack
}

/** Puts all of this money on its way back, in the transaction that finds that no ticket is given for them. */
export async function queueRefunds(tx: Connection, unearned: Unearned[]): Promise<void> {
  if (unearned.length === 0) return
  await tx.insert(refunds).values(
    unearned.map(({ payment: { organizationId, channelId }, charge, reason }) => ({
      id: newId('ref'),
      paymentId: charge.paymentId,
      chargeId: charge.id,
      organizationId,
      channelId,
      reason,
      amount: charge.amount,
      currency: charge.currency,
    })),
  )
}
