import { Stripe } from 'stripe'
import type { StripeSettings } from '../../../config/stripe.ts'
import type { Order, Outcome, PaymentProvider, RefundOutcome, Session } from '../provider.ts'
import { toStripe } from './amount.ts'
import { readStripeEvent } from './events.ts'
import { called, once } from './failure.ts'
import { refundOutcome, sessionOutcome } from './outcome.ts'

const { StripeInvalidRequestError } = Stripe.errors

// Somebody waits on a page for each of these.
const quickly = { timeout: 4_000, maxNetworkRetries: 0 }

// Stripe's least is 30 minutes from now. Reckoned from the end of the hold,
// so that it is the same each time it is asked for.
const longerThanHoldSeconds = 35 * 60

const sessionParams = ({ id, totalAmount, currency, expiresAt, name, pageUrl }: Order) => ({
  mode: 'payment' as const,
  client_reference_id: id,
  metadata: { payment_id: id },
  payment_intent_data: { metadata: { payment_id: id } },
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: currency.toLowerCase(),
        unit_amount: toStripe(totalAmount, currency),
        product_data: { name },
      },
    },
  ],
  // What the buyer pays is what the page said, in its currency.
  adaptive_pricing: { enabled: false },
  success_url: `${pageUrl}?paid`,
  cancel_url: pageUrl,
  expires_at: Math.floor(expiresAt.getTime() / 1000) + longerThanHoldSeconds,
})

// Of an amount that it never takes.
const isNever = (error: unknown) =>
  error instanceof StripeInvalidRequestError && /^amount_too_(small|large)$/.test(error.code ?? '')

async function openSession(stripe: Stripe, order: Order): Promise<Session | Outcome> {
  const params = sessionParams(order)
  try {
    const { id, url } = await once(order.id, (idempotencyKey) =>
      stripe.checkout.sessions.create(params, { idempotencyKey }),
    )
    if (!url) throw new Error(`Stripe gave no address of the session ${id}`)
    return { kind: 'session', id, url }
  } catch (error) {
    if (!isNever(error)) throw error
    return { kind: 'ended', status: 'failed' }
  }
}

async function look(stripe: Stripe, sessionId: string): Promise<Outcome | null> {
  const session = await stripe.checkout.sessions.retrieve(sessionId, { expand: ['payment_intent'] }, quickly)
  return sessionOutcome(session)
}

async function close(stripe: Stripe, sessionId: string): Promise<Outcome> {
  try {
    await stripe.checkout.sessions.expire(sessionId, {}, quickly)
  } catch (error) {
    // It was over before.
    if (!(error instanceof StripeInvalidRequestError)) throw error
    const outcome = await look(stripe, sessionId)
    if (!outcome) throw error
    return outcome
  }
  return { kind: 'ended', status: 'expired' }
}

async function refund(
  stripe: Stripe,
  { id, charge, amount, currency }: Parameters<PaymentProvider['refund']>[0],
): Promise<RefundOutcome> {
  try {
    // A key gives the answer of its first request again, and none after a day: what Stripe lists is true.
    const { data } = await stripe.refunds.list({ payment_intent: charge, limit: 100 })
    const made = data.find(({ metadata }) => metadata?.refund_id === id)
    if (made) return refundOutcome(made)
    const params = {
      payment_intent: charge,
      amount: toStripe(amount, currency),
      metadata: { refund_id: id },
    }
    return refundOutcome(
      await once(id, (idempotencyKey) => stripe.refunds.create(params, { idempotencyKey })),
    )
  } catch (error) {
    if (!(error instanceof StripeInvalidRequestError)) throw error
    return { kind: 'failed', code: error.code ?? error.type }
  }
}

/** Stripe Checkout: the buyer pays in a session at Stripe's, which outlives the hold and is ended with it. */
export function stripeProvider({ secretKey, webhookSecrets, apiBase }: StripeSettings): PaymentProvider {
  const { protocol, hostname, port, origin } = new URL(apiBase)
  const isPlain = protocol === 'http:'
  const stripe = new Stripe(secretKey, {
    protocol: isPlain ? 'http' : 'https',
    host: hostname,
    port: port || (isPlain ? 80 : 443),
    timeout: 10_000,
    maxNetworkRetries: 1,
    telemetry: false,
  })
  return {
    name: 'stripe',
    // An account may have its sessions on a domain of its own.
    sessionSources: ['https:', ...(isPlain ? [origin] : [])],
    charge: (order) => called(() => openSession(stripe, order)),
    look: (sessionId) => called(() => look(stripe, sessionId)),
    close: (sessionId) => called(() => close(stripe, sessionId)),
    refund: (given) => called(() => refund(stripe, given)),
    readEvent: (body, headers) =>
      readStripeEvent(stripe, webhookSecrets, body, headers['stripe-signature']?.toString() ?? ''),
  }
}
