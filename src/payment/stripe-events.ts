import { type Stripe, Stripe as StripeSdk } from 'stripe'
import type { Outcome, ProviderEvent } from './provider.ts'
import { refundOutcome, sessionOutcome } from './stripe-outcome.ts'

const { StripeSignatureVerificationError } = StripeSdk.errors

// Seconds that a signature is good for: who has recorded one can't send it again later.
const tolerance = 300

// Only who has the secret key can write metadata, while a buyer may choose a `client_reference_id` on some pages.
function aboutSession(session: Stripe.Checkout.Session, outcome: Outcome | null): ProviderEvent['about'] {
  const paymentId = session.metadata?.payment_id
  return paymentId && outcome ? { kind: 'session', id: session.id, paymentId, outcome } : null
}

function aboutRefund(refund: Stripe.Refund): ProviderEvent['about'] {
  const id = refund.metadata?.refund_id
  return id ? { kind: 'refund', id, outcome: refundOutcome(refund) } : null
}

function aboutOf(event: Stripe.Event): ProviderEvent['about'] {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.expired':
      return aboutSession(event.data.object, sessionOutcome(event.data.object))
    case 'checkout.session.async_payment_failed':
      return aboutSession(event.data.object, { kind: 'ended', status: 'failed' })
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return aboutRefund(event.data.object)
    default:
      return null
  }
}

/** Reads an event that Stripe signed with one of the secrets, of which there are two while one is replaced. Null where
 *  the signature is missing, wrong or too old. */
export function readStripeEvent(
  { webhooks }: Stripe,
  secrets: string[],
  body: Uint8Array,
  signature: string,
): ProviderEvent | null {
  for (const secret of secrets) {
    try {
      const event = webhooks.constructEvent(body, signature, secret, tolerance)
      return { id: event.id, type: event.type, about: aboutOf(event) }
    } catch (error) {
      if (!(error instanceof StripeSignatureVerificationError)) throw error
    }
  }
  return null
}
