import type { Charge, Payment } from './table.ts'

/** Money that a provider has taken. Amount in minor units; `reference` is what the provider calls it. */
export type Money = Pick<Charge, 'provider' | 'reference' | 'amount' | 'currency'>

/** What became of a payment: money came, it ended without, or the provider takes its time to decide. */
export type Outcome =
  | { kind: 'paid'; money: Money }
  | { kind: 'ended'; status: 'failed' | 'cancelled' | 'expired' }
  | { kind: 'processing' }

/** A place of the provider's where the buyer pays. */
export type Session = { kind: 'session'; id: string; url: string }

/** What became of a refund. `reference` is what the provider calls it, `code` why it can't be made. */
export type RefundOutcome =
  | { kind: 'succeeded'; reference: string }
  | { kind: 'pending'; reference: string }
  | { kind: 'failed'; code: string }

/** Who takes the money, and gives it back. Called outside any transaction, so it may take its time; never with personal
 *  data. What is asked for twice, by a buyer who is quick or a process that takes over, is done once. What it throws is
 *  tried again. */
export type PaymentProvider = {
  /** The word in `payments.provider` and in `PAYMENT_PROVIDER`. */
  name: string
  /** Takes the whole amount of a payment (minor units) when the buyer says so: at once, or in a session of the
   *  provider's, which the buyer is sent to. */
  charge(payment: Pick<Payment, 'id' | 'totalAmount' | 'currency'>): Promise<Outcome | Session>
  /** How a session stands; null while the buyer is still at it. */
  look(sessionId: string): Promise<Outcome | null>
  /** Ends a session, so that nobody can pay there any more, and tells how it ended. */
  close(sessionId: string): Promise<Outcome>
  /** Gives money of a charge back (minor units), or tells how that stands where it was asked for before. */
  refund(refund: { id: string; charge: string; amount: number; currency: string }): Promise<RefundOutcome>
}
