import type { House } from '../context.ts'
import type { FoundPayment } from './find-payment.ts'
import type { Outcome } from './provider.ts'
import { settlePayment } from './settle-payment.ts'
import type { Payment } from './table.ts'

/** What the buyer wants: to pay, to cancel, or only to see how the payment stands. */
export type Wish = 'pay' | 'cancel' | 'look'

const expired: Outcome = { kind: 'ended', status: 'expired' }
const cancelled: Outcome = { kind: 'ended', status: 'cancelled' }

/** Does what the buyer wants with a payment that is still open: takes the money and activates the tickets, or gives
 *  their places back. One whose time is over expires, whatever is wanted and whether or not the sweeper has been; one
 *  that is over already stays as it is. Returns the status that it has now. The provider may be asked twice for the
 *  same payment, by a buyer who is quick: it goes by the payment's id. */
export async function decidePayment(
  { db, provider }: Pick<House, 'db' | 'provider'>,
  { payment, secondsLeft }: FoundPayment,
  wish: Wish,
): Promise<Payment['status']> {
  const { id, totalAmount, currency, status } = payment
  if (status !== 'pending') return status
  // Settled by the database's clock, it expires.
  if (secondsLeft <= 0) return settlePayment(db, id, expired)
  if (wish === 'look') return status
  // Outside any transaction: the provider may take its time, and holds no row meanwhile.
  const outcome = wish === 'pay' ? await provider.charge({ id, totalAmount, currency }) : cancelled
  if (outcome.kind === 'session') throw new Error('no provider has sessions')
  return settlePayment(db, id, outcome)
}
