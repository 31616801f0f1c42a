import type { Payment } from './table.ts'

/** Builds the URL of the payment page. Its token is unguessable and not exposed anywhere else. */
export const paymentUrl = ({ pageToken }: Payment, publicUrl: string): string =>
  `${publicUrl}/pay/${pageToken}`

/** Returns the token in the URL of a payment page; null if the URL is not one. */
export const tokenInUrl = (url: string): string | null =>
  /^https?:\/\/[^?#]+\/pay\/([0-9A-Za-z]{43})(?:[?#]|$)/.exec(url.slice(0, 2048))?.[1] ?? null
