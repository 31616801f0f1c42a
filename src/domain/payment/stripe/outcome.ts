import type { Money, Outcome, RefundOutcome } from '../provider.ts'
import { fromStripe } from './amount.ts'

/** The fields of a session that tell how it stands, from an answer or an event. */
type Session = {
  id: string
  status: string | null
  payment_status: string
  payment_intent?: string | { id: string; status?: string } | null
  amount_total?: number | null
  currency?: string | null
}

/** A paid session whose money is none: not a whole number of minor units above 0, or not of a currency. */
export class UnreadableMoney extends Error {
  constructor() {
    super('Stripe tells no money of a paid session')
    this.name = 'UnreadableMoney'
  }
}

// Twelve digits are the most that Stripe takes, in the currencies that need as many.
const maxAmount = 999_999_999_999

const ended = (status: 'failed' | 'expired'): Outcome => ({ kind: 'ended', status })

function moneyOf({ payment_intent, amount_total, currency }: Session): Money {
  const reference = typeof payment_intent === 'string' ? payment_intent : payment_intent?.id
  const code = currency?.toUpperCase() ?? ''
  if (!reference || !/^[A-Z]{3}$/.test(code)) throw new UnreadableMoney()
  if (!amount_total || !Number.isInteger(amount_total) || amount_total > maxAmount)
    throw new UnreadableMoney()
  const amount = fromStripe(amount_total, code)
  if (amount <= 0) throw new UnreadableMoney()
  return { provider: 'stripe', reference, amount, currency: code }
}

// What a bank refused later, or what can't be paid any more. Until then an unpaid one may still be paid.
const failed = new Set(['requires_payment_method', 'canceled'])

/** How a session stands; null while the buyer is still at it. Its `payment_intent` tells a bank that has refused from
 *  one that takes its time, where it is expanded. Throws UnreadableMoney. */
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
}: {
  id: string
  status: string | null
  failure_reason?: string | null
}): RefundOutcome {
  if (status === 'succeeded') return { kind: 'succeeded', reference: id }
  if (status === 'failed' || status === 'canceled') return { kind: 'failed', code: failure_reason ?? status }
  return { kind: 'pending', reference: id }
}
