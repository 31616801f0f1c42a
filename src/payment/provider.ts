import type { Payment } from './table.ts'

/** Who takes the money. Called outside any transaction, so it may take its time; never with personal data. */
export type PaymentProvider = {
  /** The word in `payments.provider` and in `PAYMENT_PROVIDER`. */
  name: string
  /** Takes the whole amount of a payment (minor units) when the buyer says so, and tells how that went.
   *  A quick buyer may ask twice: it is the same payment by its id, and taken once. */
  charge(payment: Pick<Payment, 'id' | 'totalAmount' | 'currency'>): Promise<'paid' | 'failed'>
}
