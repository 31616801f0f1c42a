import type { IncomingHttpHeaders } from 'node:http'
import { errorCode } from '../../engine/base/errors.ts'
import type { Charge, Payment } from './table.ts'

/** Name in `payments.provider` and `charges.provider` of what an organization sells and gives away itself. It
 *  names no PaymentProvider: nothing is charged, asked or refunded there. */
export const ownProvider = 'box_office'

/** Charge that a provider has made. Amount in minor units; `reference` is the provider's identifier. */
export type ProviderCharge = Pick<Charge, 'provider' | 'reference' | 'amount' | 'currency'>

/** Outcome of a payment: it was charged, it ended without a charge, or the provider has not decided yet. `code` is the
 *  provider's for what the organization or the operator has to mend, for the log. */
export type PaymentOutcome =
  | { kind: 'paid'; money: ProviderCharge }
  | { kind: 'ended'; status: 'failed' | 'cancelled' | 'expired'; code?: string }
  | { kind: 'processing' }

/** Order to be paid, whose places are held until `expiresAt`. `name` describes it to the buyer. The provider
 *  sends the buyer back to `pageUrl`. */
export type PaymentOrder = Pick<
  Payment,
  'id' | 'organizationId' | 'totalAmount' | 'currency' | 'expiresAt'
> & {
  name: string
  pageUrl: string
  /** Address of a ticket that asks the sandbox for another outcome; the sandbox alone is told. */
  testEmail?: string | null
}

/** Refund of an amount of a charge, which `charge` names as the provider does. The `id` is that of the refund. */
export type RefundOrder = Pick<Charge, 'id' | 'organizationId' | 'amount' | 'currency'> & { charge: string }

/** Page of the provider where the buyer pays. */
export type PaymentSession = { kind: 'session'; id: string; url: string }

/** Outcome of a refund. `reference` is the provider's identifier, `code` the reason for a failure. */
export type RefundOutcome =
  | { kind: 'succeeded' | 'pending'; reference: string }
  | { kind: 'failed'; code: string }

/** Refund that somebody made at the provider, of a charge that `charge` names as the provider does. Amount in minor
 *  units; `reference` is the provider's identifier of the refund. */
export type OutsideRefund = { charge: string; reference: string; amount: number; outcome: RefundOutcome }

/** Event sent by a provider. `about` is the session or refund it concerns, or null if it is neither. Its
 *  `organizationId` is the one that the session or refund was opened with, and leads to its rows. */
export type ProviderEvent = {
  /** Provider's identifier; the same for each delivery of the event. */
  id: string
  type: string
  about:
    | { kind: 'session'; id: string; paymentId: string; organizationId: string; outcome: PaymentOutcome }
    | { kind: 'refund'; id: string; organizationId: string; outcome: RefundOutcome }
    | ({ kind: 'outside-refund' } & OutsideRefund)
    | null
}

/** Code of a call that failed, for the operator: the network's, the provider's, or the name of the error. `HTTP_401` and
 *  `HTTP_403` refuse our credentials, or a right that they lack. */
export const failureCode = (error: unknown): string =>
  errorCode(error) ?? (error instanceof Error ? error.name : 'UNKNOWN')

/** Payment provider. Called outside any transaction, because it may be slow, and never with personal data.
 *  Charges and refunds must be idempotent by id: a buyer may click twice, and another process may take over.
 *  Errors are retried. */
export type PaymentProvider = {
  /** Name in `payments.provider` and `PAYMENT_PROVIDER`. */
  name: string
  /** Origins of its sessions, for the `form-action` of the payment page's Content-Security-Policy. */
  sessionSources?: string[]
  /** Least amount of a currency that it charges (minor units), beside 0, for which it is not asked; any if absent. */
  leastCharge?(currency: string): number
  /** Charges the whole amount of a payment (minor units) when the buyer presses Pay: at once, or in a session
   *  that the buyer is sent to. An attempt that is `declined` took no money and ended nothing: the buyer may try again
   *  while the hold lasts. */
  charge(order: PaymentOrder): Promise<PaymentOutcome | PaymentSession | { kind: 'declined' }>
  /** Returns the outcome of a session; null while it waits for the buyer. */
  getSession(sessionId: string): Promise<PaymentOutcome | null>
  /** Expires a session, so that nobody can pay there any more, and returns its outcome. */
  expireSession(sessionId: string): Promise<PaymentOutcome>
  /** Refunds an amount of a charge (minor units). Returns the outcome of an existing refund with the same
   *  id. */
  refund(refund: RefundOrder): Promise<RefundOutcome>
  /** Reads an event from the raw body of a request; null if its signature is invalid. Absent if the provider
   *  sends none. */
  readEvent?(body: Uint8Array, headers: IncomingHttpHeaders): ProviderEvent | null
}

declare module '../../engine/request/context.ts' {
  interface Services {
    provider: PaymentProvider
  }
}
