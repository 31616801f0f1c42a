import type { IncomingHttpHeaders } from 'node:http'
import type { Charge, Payment } from './table.ts'

/** Money that a provider has taken. Amount in minor units; `reference` is what the provider calls it. */
export type Money = Pick<Charge, 'provider' | 'reference' | 'amount' | 'currency'>

/** What became of a payment: money came, it ended without, or the provider takes its time to decide. */
export type Outcome =
  | { kind: 'paid'; money: Money }
  | { kind: 'ended'; status: 'failed' | 'cancelled' | 'expired' }
  | { kind: 'processing' }

/** What is to be paid, and until when it is held. `name` is what the buyer is told it is for, `pageUrl` where the
 *  provider sends the buyer back to. */
export type Order = Pick<Payment, 'id' | 'totalAmount' | 'currency' | 'expiresAt'> & {
  name: string
  pageUrl: string
}

/** A place of the provider's where the buyer pays. */
export type Session = { kind: 'session'; id: string; url: string }

/** What became of a refund. `reference` is what the provider calls it, `code` why it can't be made. */
export type RefundOutcome =
  | { kind: 'succeeded'; reference: string }
  | { kind: 'pending'; reference: string }
  | { kind: 'failed'; code: string }

/** What a provider tells by itself: how a session or a refund of ours stands, or what is none of our business. */
export type ProviderEvent = {
  /** What the provider calls it: the same for each time that it is told. */
  id: string
  type: string
  about:
    | { kind: 'session'; id: string; paymentId: string; outcome: Outcome }
    | { kind: 'refund'; id: string; outcome: RefundOutcome }
    | null
}

/** Who takes the money, and gives it back. Called outside any transaction, so it may take its time; never with personal
 *  data. What is asked for twice, by a buyer who is quick or a process that takes over, is done once. What it throws is
 *  tried again. */
export type PaymentProvider = {
  /** The word in `payments.provider` and in `PAYMENT_PROVIDER`. */
  name: string
  /** Where its sessions are, as sources of a policy for forms that lead there. */
  sessionSources?: string[]
  /** Takes the whole amount of a payment (minor units) when the buyer says so: at once, or in a session of the
   *  provider's, which the buyer is sent to. */
  charge(order: Order): Promise<Outcome | Session>
  /** How a session stands; null while the buyer is still at it. */
  look(sessionId: string): Promise<Outcome | null>
  /** Ends a session, so that nobody can pay there any more, and tells how it ended. */
  close(sessionId: string): Promise<Outcome>
  /** Gives money of a charge back (minor units), or tells how that stands where it was asked for before. */
  refund(refund: { id: string; charge: string; amount: number; currency: string }): Promise<RefundOutcome>
  /** Reads what the provider has sent, byte by byte as it came; null where its signature is not good. Absent where it
   *  sends nothing. */
  readEvent?(body: Uint8Array, headers: IncomingHttpHeaders): ProviderEvent | null
}
