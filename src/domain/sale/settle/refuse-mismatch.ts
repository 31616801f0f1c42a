import type { Connection } from '../../../database/database.ts'
import type { Charge, Payment } from '../../payment/table.ts'
import { mayBecome } from '../../payment/transitions.ts'
import { releaseHolds } from '../release/release-holds.ts'

/** Minor units by which money is more than its payment asks for. Null where it does not pay it: there is less of it,
 *  or it is of another currency. */
export const surplusOf = (
  { totalAmount, currency }: Pick<Payment, 'totalAmount' | 'currency'>,
  money: Pick<Charge, 'amount' | 'currency'>,
): number | null =>
  money.currency === currency && money.amount >= totalAmount ? money.amount - totalAmount : null

/** Ends a payment whose row this transaction has locked, once money came that does not pay it: its session is over, and
 *  nobody can pay there any more. Right money that comes later pays it all the same. Gives the status that it has now,
 *  and whether that freed a rate or a price that was used up: then `touchCatalogue` once it is committed
 *  (DECISIONS 11). */
export async function refuseMismatch(
  tx: Connection,
  { id, status }: Pick<Payment, 'id' | 'status'>,
): Promise<{ status: Payment['status']; touched: boolean }> {
  if (!mayBecome(status, 'failed')) return { status, touched: false }
  return { status: 'failed', touched: await releaseHolds(tx, [{ id, status: 'failed' }]) }
}
