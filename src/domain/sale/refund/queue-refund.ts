import type { Connection } from '../../../database/database.ts'
import { newId } from '../../../shared/ids.ts'
import type { Charge, Payment } from '../../payment/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'

/** Reasons for refunds that nobody requested. */
export const automaticReasons = [
  'LATE_NO_CAPACITY',
  'CANCELLED',
  'PAID_TWICE',
  'AMOUNT_MISMATCH',
] as const satisfies RefundAttempt['reason'][]
export type AutomaticReason = (typeof automaticReasons)[number]

/** Charge, or part of one, that pays for no ticket and must be refunded. Amount in minor units. */
export type UnearnedCharge = {
  payment: Pick<Payment, 'organizationId' | 'channelId'>
  charge: Pick<Charge, 'id' | 'paymentId' | 'amount' | 'currency'>
  reason: AutomaticReason
}

/** Queues automatic refunds, in the transaction that decides that the charges pay for no ticket. */
export async function queueRefunds(tx: Connection, unearned: UnearnedCharge[]): Promise<void> {
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
