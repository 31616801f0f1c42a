import type { Stripe } from 'stripe'
import type { Money, Outcome, RefundOutcome } from './provider.ts'
import { fromStripe } from './stripe-amount.ts'

type Session = Pick<
  Stripe.Checkout.Session,
  'id' | 'status' | 'payment_status' | 'payment_intent' | 'amount_total' | 'currency'
>

const ended = (status: 'failed' | 'expired'): Outcome => ({ kind: 'ended', status })

function moneyOf({ id, payment_intent, amount_total, currency }: Session): Money {
  const reference = typeof payment_intent === 'string' ? payment_intent : payment_intent?.id
  const code = currency?.toUpperCase()
  if (!reference || !code || !amount_total) throw new Error(`Stripe tells no money of the paid session ${id}`)
  return { provider: 'stripe', reference, amount: fromStripe(amount_total, code), currency: code }
}

// What a bank refused later, or what can't be paid any more. Until then an unpaid one may still be paid.
const failed = new Set(['requires_payment_method', 'canceled'])

/** How a session stands; null while the buyer is still at it. Its `payment_intent` tells a bank that has refused from
 *  one that takes its time, where it is expanded. */
export function sessionOutcome(session: Session): Outcome | null {
  const { status, payment_status, payment_intent } = session
  if (payment_status === 'paid') return { kind: 'paid', money: moneyOf(session) }
  if (status === 'expired') return ended('expired')
  if (status !== 'complete') return null
  const isRefused = typeof payment_intent === 'object' && failed.has(payment_intent?.status ?? '')
  return isRefused ? ended('failed') : { kind: 'processing' }
}

/** How a refund stands. */
export function refundOutcome({
  id,
  status,
  failure_reason,
}: Pick<Stripe.Refund, 'id' | 'status' | 'failure_reason'>): RefundOutcome {
  if (status === 'succeeded') return { kind: 'succeeded', reference: id }
  if (status === 'failed' || status === 'canceled') return { kind: 'failed', code: failure_reason ?? status }
  return { kind: 'pending', reference: id }
}
