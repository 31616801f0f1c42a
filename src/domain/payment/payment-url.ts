import type { Payment } from './table.ts'

/** Where the buyer pays. The token is unguessable and no part of what a client reads elsewhere. */
export const paymentUrl = ({ pageToken }: Payment, publicUrl: string): string =>
  `${publicUrl}/pay/${pageToken}`
