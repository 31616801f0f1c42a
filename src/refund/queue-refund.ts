import type { Connection } from '../database.ts'
import { newId } from '../ids.ts'
import type { Charge, Payment } from '../payment/table.ts'
import { type Refund, refunds } from './table.ts'

/** Why money goes back that nobody asked for. */
export const automaticReasons = [
  'LATE_NO_CAPACITY',
  'CANCELLED',
  'PAID_TWICE',
] as const satisfies Refund['reason'][]
export type MoneyBack = (typeof automaticReasons)[number]

/** Puts all of a charge that no ticket is given for on its way back, in the transaction that finds so. */
export async function queueRefund(
  tx: Connection,
  { organizationId, channelId }: Payment,
  { id, paymentId, amount, currency }: Charge,
  reason: MoneyBack,
): Promise<void> {
  await tx.insert(refunds).values({
    id: newId('ref'),
    paymentId,
    chargeId: id,
    organizationId,
    channelId,
    reason,
    amount,
    currency,
  })
}
