import { type AddressToken, addressTokenReader } from '../contract/ids.ts'
import type { Payment } from './table.ts'

/** Builds the URL of the payment page. Its token is unguessable and not exposed anywhere else. */
export const paymentUrl = ({ pageToken }: Pick<Payment, 'pageToken'>, publicUrl: string): string =>
  `${publicUrl}/pay/${pageToken}`

/** Reads the token of a payment page; null if the text has not its form. */
export const readPageToken = addressTokenReader(/[0-9A-Za-z]{43}/)

/** Returns the token in the URL of a payment page; null if the URL is not one. */
export function tokenInUrl(url: string): AddressToken | null {
  const [, token = ''] = /^https?:\/\/[^?#]+\/pay\/([\w-]+)\/?(?:[?#]|$)/.exec(url.slice(0, 2048)) ?? []
  return readPageToken(token)
}
