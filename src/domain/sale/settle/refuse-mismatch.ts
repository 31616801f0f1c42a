import type { Connection } from '../../../database/database.ts'
import type { Charge, Payment } from '../../payment/table.ts'
import { mayBecome } from '../../payment/transitions.ts'
import { releaseHolds } from '../release/release-holds.ts'

/** Computes by how many minor units a charge exceeds its payment. Null if it does not pay it: it is too low,
 *  or in another currency. */
export const surplusOf = (
  { totalAmount, currency }: Pick<Payment, 'totalAmount' | 'currency'>,
  money: Pick<Charge, 'amount' | 'currency'>,
): number | null =>
  money.currency === currency && money.amount >= totalAmount ? money.amount - totalAmount : null

/** Fails a payment after a mismatching charge, because its session is over and nobody can pay there any more.
 *  A matching charge that arrives later still pays it. Requires this transaction to hold the payment's row
 *  lock. Returns its current status (DECISIONS 11). */
export async function refuseMismatch(
  tx: Connection,
  { id, status }: Pick<Payment, 'id' | 'status'>,
): Promise<Payment['status']> {
  if (!mayBecome(status, 'failed')) return status
  await releaseHolds(tx, [{ id, status: 'failed' }])
  return 'failed'
}
