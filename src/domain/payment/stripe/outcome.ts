import { z } from 'zod'
import { decimalsOf } from '../../../engine/base/money.ts'
import type { PaymentOutcome, ProviderCharge, RefundOutcome } from '../provider.ts'

// Stripe's decimals are those of ISO 4217 but for these (docs.stripe.com/currencies): it takes whole ariary, and ISK and
// UGX with two decimals that are 00. Of three decimals the last must be 0, which every amount of ours is (DECISIONS 61).
const ownDecimals: Record<string, number> = { MGA: 0, ISK: 2, UGX: 2 }

const stripeDecimalsOf = (currency: string): number => ownDecimals[currency] ?? decimalsOf(currency)

/** Converts ISO minor units to Stripe's. */
export const toStripeAmount = (minor: number, currency: string): number =>
  Math.round(minor * 10 ** (stripeDecimalsOf(currency) - decimalsOf(currency)))

/** Converts Stripe's minor units to ISO's. Rounds down, so that an amount never counts for more than it
 *  is. */
export const fromStripeAmount = (amount: number, currency: string): number =>
  Math.floor((amount * 10 ** decimalsOf(currency)) / 10 ** stripeDecimalsOf(currency))

// PostgreSQL text can't contain NUL, and its indexes limit length. Stripe's identifiers have at most 255
// characters, our metadata fewer.
/** Text of Stripe's that may be stored. */
export const text = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{Cc}+$/u)

/** Fields of a session that determine its outcome, from a response or an event. */
export const sessionBody = z.object({
  id: text,
  status: text.nullable(),
  payment_status: text,
  payment_intent: z.union([text, z.object({ id: text, status: text.optional() })]).nullish(),
  amount_total: z.number().nullish(),
  currency: text.nullish(),
})

// Charge of a paid session. Stripe allows twelve digits at most, in currencies that need them.
const paidSession = z
  .object({
    payment_intent: z.union([text, z.object({ id: text }).transform(({ id }) => id)]),
    amount_total: z.int().max(999_999_999_999),
    currency: z
      .string()
      .toUpperCase()
      .regex(/^[A-Z]{3}$/),
  })
  .transform(({ payment_intent: reference, amount_total, currency }): ProviderCharge => {
    return { provider: 'stripe', reference, amount: fromStripeAmount(amount_total, currency), currency }
  })
  .refine(({ amount }) => amount > 0)

/** Outcome of a session that took no money. */
export const endedOutcome = (status: 'failed' | 'expired'): PaymentOutcome => ({ kind: 'ended', status })

// Statuses of a payment intent that a bank has refused, or that is cancelled. With any other an unpaid
// session may still be paid.
const failedStatuses = new Set(['requires_payment_method', 'canceled'])

/** Determines the outcome of a session; null while it waits for the buyer. Expand `payment_intent` to tell a
 *  bank that has refused from one that is still deciding. Throws for a paid session without a valid charge. */
export function sessionOutcome(session: z.output<typeof sessionBody>): PaymentOutcome | null {
  const { status, payment_status, payment_intent } = session
  if (payment_status === 'paid') return { kind: 'paid', money: paidSession.parse(session) }
  if (status === 'expired') return endedOutcome('expired')
  if (status !== 'complete') return null
  const isRefused = typeof payment_intent === 'object' && failedStatuses.has(payment_intent?.status ?? '')
  return isRefused ? endedOutcome('failed') : { kind: 'processing' }
}

/** Fields of a refund that determine its outcome. */
export const refundBody = z.object({ id: text, status: text.nullable(), failure_reason: text.nullish() })

/** Converts a refund of Stripe's to its outcome. */
export function refundOutcome({ id, status, failure_reason }: z.output<typeof refundBody>): RefundOutcome {
  if (status === 'succeeded') return { kind: 'succeeded', reference: id }
  if (status === 'failed' || status === 'canceled') return { kind: 'failed', code: failure_reason ?? status }
  return { kind: 'pending', reference: id }
}
