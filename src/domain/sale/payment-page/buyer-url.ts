import type { Payment } from '../../payment/table.ts'
import type { AutomaticReason } from '../refund/queue-refund.ts'

/** Builds the channel's URL that a buyer is redirected to, with the outcome of the payment and no personal
 *  data. Only buyers who got tickets go to `redirectUrl`, others to `errorUrl`. Null if the channel gave
 *  none. */
export function buyerUrl(
  { id, status, redirectUrl, errorUrl, paidAt }: Payment,
  refundReason: AutomaticReason | null,
): string | null {
  const target = paidAt ? redirectUrl : errorUrl
  if (!target) return null
  const url = new URL(target)
  url.searchParams.set('payment_id', id)
  url.searchParams.set('status', status)
  if (refundReason || !paidAt) url.searchParams.set('code', refundReason ?? `PAYMENT_${status.toUpperCase()}`)
  return url.href
}
