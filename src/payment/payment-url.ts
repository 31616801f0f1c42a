import type { Payment } from './table.ts'

/** Where the buyer pays. The token is unguessable and no part of what a client reads elsewhere. */
export const paymentUrl = ({ pageToken }: Payment, publicUrl: string): string =>
  `${publicUrl}/pay/${pageToken}`

/** Where the buyer goes on, with what became of the payment: never personal data. Null where the channel gave no
 *  address. */
export function buyerUrl({ id, status, redirectUrl, errorUrl }: Payment): string | null {
  const isPaid = status === 'paid' || status === 'partially_refunded' || status === 'refunded'
  const address = isPaid ? redirectUrl : errorUrl
  if (!address) return null
  const url = new URL(address)
  url.searchParams.set('payment_id', id)
  url.searchParams.set('status', status)
  if (!isPaid) url.searchParams.set('code', `PAYMENT_${status.toUpperCase()}`)
  return url.href
}
