import type { Payment } from '../../payment/table.ts'
import type { AutomaticReason } from '../refund/queue-refund.ts'

/** Where the buyer goes on, with what became of the payment: never personal data. Only who has tickets goes to the
 *  address for those who do. `moneyBack` is why money goes back by itself. Null where the channel gave no address. */
export function buyerUrl(
  { id, status, redirectUrl, errorUrl, paidAt }: Payment,
  moneyBack: AutomaticReason | null,
): string | null {
  const address = paidAt ? redirectUrl : errorUrl
  if (!address) return null
  const url = new URL(address)
  url.searchParams.set('payment_id', id)
  url.searchParams.set('status', status)
  if (moneyBack || !paidAt) url.searchParams.set('code', moneyBack ?? `PAYMENT_${status.toUpperCase()}`)
  return url.href
}
