import type { Payment } from './table.ts'

/** Builds the URL of the payment page. Its token is unguessable and not exposed anywhere else. */
export const paymentUrl = ({ pageToken }: Payment, publicUrl: string): string =>
  `${publicUrl}/pay/${pageToken}`
