import { Stripe } from 'stripe'
import { errorCode } from '../../../engine/base/errors.ts'
import { smallestCharge } from '../../../engine/base/money.ts'
import type {
  PaymentOrder,
  PaymentOutcome,
  PaymentProvider,
  PaymentSession,
  RefundOrder,
} from '../provider.ts'
import { readStripeEvent } from './events.ts'
import { endedOutcome, leastStripeCharge, refundOutcome, sessionOutcome, toStripeAmount } from './outcome.ts'
import type { StripeSettings } from './settings.ts'

const { StripeAPIError, StripeError, StripeIdempotencyError, StripeInvalidRequestError } = Stripe.errors

/** Calls Stripe, and reduces its errors to their names and codes. Their HTTP status is meant for us, and must not become
 *  the status of our own response. */
async function throwStripeFailure<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof StripeError)) throw error
    const { type: name, code, detail, statusCode } = error
    const refusedKey = statusCode === 401 || statusCode === 403 ? `HTTP_${statusCode}` : undefined
    // A network error's code makes it pass for an unavailable service instead of a fault of ours.
    throw Object.assign(new Error('Stripe call failed'), {
      name,
      code: refusedKey ?? code ?? errorCode(detail),
    })
  }
}

// Each window has one replacement key.
const windowMs = 10_000

/** Makes a request under a fixed idempotency key, so that it is executed once. Stripe repeats the first
 *  response for a key, even its own server error, and refuses the key if the request has changed. In these
 *  cases retries once with a replacement key, which concurrent callers share. */
async function idempotently<T>(key: string, request: (idempotencyKey: string) => Promise<T>): Promise<T> {
  try {
    return await request(key)
  } catch (error) {
    const isReplayed = error instanceof StripeAPIError && error.headers?.['idempotent-replayed'] === 'true'
    if (!isReplayed && !(error instanceof StripeIdempotencyError)) throw error
    return request(`${key}_${Math.floor(Date.now() / windowMs)}`)
  }
}

// For calls that a buyer waits for on a page.
const interactive = { timeout: 4_000, maxNetworkRetries: 0 }

// Stripe's minimum is 30 minutes from now. Counted from the end of the hold, so that a retry sends the same
// value.
const longerThanHoldSeconds = 35 * 60

const sessionParams = (order: PaymentOrder) => ({
  mode: 'payment' as const,
  client_reference_id: order.id,
  metadata: { payment_id: order.id, organization_id: order.organizationId },
  payment_intent_data: { metadata: { payment_id: order.id, organization_id: order.organizationId } },
  line_items: [
    {
      quantity: 1,
      price_data: {
        currency: order.currency.toLowerCase(),
        unit_amount: toStripeAmount(order.totalAmount, order.currency),
        product_data: { name: order.name },
      },
    },
  ],
  // The buyer pays the amount that the page showed, in its currency.
  adaptive_pricing: { enabled: false },
  success_url: `${order.pageUrl}?paid`,
  cancel_url: order.pageUrl,
  expires_at: Math.floor(order.expiresAt.getTime() / 1000) + longerThanHoldSeconds,
})

// Stripe will never accept the amount, so a retry is pointless.
const isAmountRefused = (error: unknown): error is { code: string } =>
  error instanceof StripeInvalidRequestError && /^amount_too_(small|large)$/.test(error.code ?? '')

async function openSession(stripe: Stripe, order: PaymentOrder): Promise<PaymentSession | PaymentOutcome> {
  // Found in a catalogue that was imported before such prices were refused.
  if (order.totalAmount % smallestCharge(order.currency) !== 0)
    return endedOutcome('failed', 'amount_has_too_many_decimals')
  const params = sessionParams(order)
  try {
    const { id, url } = await idempotently(order.id, (idempotencyKey) =>
      stripe.checkout.sessions.create(params, { idempotencyKey }),
    )
    if (!url) throw new Error(`Stripe session ${id} has no url`)
    return { kind: 'session', id, url }
  } catch (error) {
    if (isAmountRefused(error)) return endedOutcome('failed', error.code)
    throw error
  }
}

async function getSession(stripe: Stripe, sessionId: string): Promise<PaymentOutcome | null> {
  const params = { expand: ['payment_intent'] }
  return sessionOutcome(await stripe.checkout.sessions.retrieve(sessionId, params, interactive))
}

async function expireSession(stripe: Stripe, sessionId: string): Promise<PaymentOutcome> {
  try {
    await stripe.checkout.sessions.expire(sessionId, {}, interactive)
  } catch (error) {
    // The session had already ended.
    if (!(error instanceof StripeInvalidRequestError)) throw error
    const outcome = await getSession(stripe, sessionId)
    if (!outcome) throw error
    return outcome
  }
  return endedOutcome('expired')
}

async function refund(stripe: Stripe, { id, organizationId, charge, amount, currency }: RefundOrder) {
  let others: string[] = []
  try {
    // An idempotency key only repeats the first response, and is forgotten after a day. Stripe's list is
    // current.
    const { data } = await stripe.refunds.list({ payment_intent: charge, limit: 100 })
    others = data.map(({ id }) => id)
    const existing = data.find(({ metadata }) => metadata?.refund_id === id)
    if (existing) return refundOutcome(existing)
    const params = {
      payment_intent: charge,
      amount: toStripeAmount(amount, currency),
      metadata: { refund_id: id, organization_id: organizationId },
    }
    const made = await idempotently(id, (idempotencyKey) => stripe.refunds.create(params, { idempotencyKey }))
    return refundOutcome(made)
  } catch (error) {
    if (!(error instanceof StripeInvalidRequestError)) throw error
    // Somebody has given all of the charge back in Stripe's dashboard.
    if (error.code === 'charge_already_refunded')
      return { kind: 'succeeded' as const, reference: others[0] ?? charge }
    return { kind: 'failed' as const, code: error.code ?? error.type }
  }
}

/** Creates a provider that uses Stripe Checkout. The buyer pays in a session at Stripe. A session may outlive
 *  its hold, so it has to be expired with it. */
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
    // An account may serve its sessions from a custom domain.
    sessionSources: ['https:', ...(isPlain ? [origin] : [])],
    leastCharge: leastStripeCharge,
    charge: (order) => throwStripeFailure(() => openSession(stripe, order)),
    getSession: (sessionId) => throwStripeFailure(() => getSession(stripe, sessionId)),
    expireSession: (sessionId) => throwStripeFailure(() => expireSession(stripe, sessionId)),
    refund: (request) => throwStripeFailure(() => refund(stripe, request)),
    readEvent: (body, headers) =>
      readStripeEvent(stripe, webhookSecrets, body, headers['stripe-signature']?.toString() ?? ''),
  }
}
