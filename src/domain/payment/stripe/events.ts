import { Stripe } from 'stripe'
import { z } from 'zod'
import { refusal } from '../../contract/problem-codes.ts'
import type { PaymentOutcome, ProviderEvent } from '../provider.ts'
import {
  endedOutcome,
  fromStripeAmount,
  outsideRefundBody,
  refundBody,
  refundOutcome,
  sessionBody,
  sessionOutcome,
  text,
} from './outcome.ts'

const { StripeSignatureVerificationError } = Stripe.errors

type Webhooks = Pick<Stripe, 'webhooks'>

// Signatures are valid for this long before and after their timestamp: a recorded request can't be replayed
// later, nor a post-dated one be saved up.
const toleranceSeconds = 300

// Format: t=1700000000,v1=<64 hexadecimal digits>. May repeat v1, and contain other schemes.
const item = /^(?:t=(\d{1,12})|v1=[\da-f]{64}|(?!t=|v1=)\w+=\w*)$/

// Reads the timestamp of a signature, in seconds since 1970. Null if the header is malformed: the SDK throws
// errors of any kind for those.
function signedAt(header: string): number | null {
  const items = header.split(',').map((text) => item.exec(text))
  const times = items.flatMap((match) => match?.[1] ?? [])
  const isWellFormed = items.every((match) => match) && /(?:^|,)v1=/.test(header)
  return isWellFormed && times.length === 1 ? Number(times[0]) : null
}

// Refuses a signed body that can't be read. Its sender is Stripe, or has the secret, and may know.
const malformedEvent = () =>
  refusal('BAD_REQUEST', 'The event is malformed, although its signature is valid.')

/** Reads the JSON of a body that Stripe signed with one of the secrets, of which there are two during a
 *  rotation. Null if the signature is missing, malformed, wrong, too old or post-dated.
 *  Refuses: BAD_REQUEST if a signed body is not JSON. */
export function readSigned({ webhooks }: Webhooks, secrets: string[], body: Uint8Array, header: string) {
  const at = signedAt(header)
  if (at === null || Math.abs(Math.floor(Date.now() / 1000) - at) > toleranceSeconds) return null
  for (const secret of secrets) {
    try {
      return { value: webhooks.constructEvent(body, header, secret, toleranceSeconds) }
    } catch (error) {
      // The SDK throws any other error only after it has verified the signature.
      if (!(error instanceof StripeSignatureVerificationError)) throw malformedEvent()
    }
  }
  return null
}

// Event ids and types are logged, so nothing else may pass for one.
const logged = z.string().regex(/^[\w.:-]{1,255}$/)

const eventBody = z.object({
  id: logged,
  type: logged,
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
})

// An account may serve other applications as well: objects without our metadata are ignored,
// but refunds of our charges.
const ownSession = z.object({
  metadata: z.object({ payment_id: text.optional(), organization_id: text.optional() }).nullish(),
})
const ownRefund = z.object({
  metadata: z.object({ refund_id: text.optional(), organization_id: text.optional() }).nullish(),
})

// Trusts metadata, which only the holder of the secret key can write. A buyer may set `client_reference_id`
// on some pages.
function aboutSession(object: object, knownOutcome?: PaymentOutcome): ProviderEvent['about'] {
  const { payment_id: paymentId, organization_id: organizationId } = ownSession.parse(object).metadata ?? {}
  if (!paymentId || !organizationId) return null
  const session = sessionBody.parse(object)
  const outcome = knownOutcome ?? sessionOutcome(session)
  return outcome && { kind: 'session', id: session.id, paymentId, organizationId, outcome }
}

// Somebody made it in Stripe's dashboard, of a charge that may be ours.
function aboutOutsideRefund(object: object): ProviderEvent['about'] {
  const made = outsideRefundBody.extend(refundBody.shape).safeParse(object)
  if (!made.success) return null
  const { payment_intent: charge, id: reference, currency, ...refund } = made.data
  const amount = fromStripeAmount(refund.amount, currency)
  return {
    kind: 'outside-refund',
    charge,
    reference,
    amount,
    outcome: refundOutcome({ id: reference, ...refund }),
  }
}

function aboutRefund(object: object): ProviderEvent['about'] {
  const { refund_id: id, organization_id: organizationId } = ownRefund.parse(object).metadata ?? {}
  if (!id || !organizationId) return aboutOutsideRefund(object)
  return { kind: 'refund', id, organizationId, outcome: refundOutcome(refundBody.parse(object)) }
}

// Readers of what an event is about, by its type. Events of other types are about nothing of ours.
const aboutOf = new Map<string, (object: object) => ProviderEvent['about']>([
  ['checkout.session.completed', aboutSession],
  ['checkout.session.async_payment_succeeded', aboutSession],
  ['checkout.session.async_payment_failed', (object) => aboutSession(object, endedOutcome('failed'))],
  ['checkout.session.expired', aboutSession],
  ['refund.created', aboutRefund],
  ['refund.updated', aboutRefund],
  ['refund.failed', aboutRefund],
])

/** Reads an event that Stripe signed with one of the secrets. Null if the signature is invalid: see
 *  readSigned.
 *  Refuses: BAD_REQUEST for a signed body that is not an event, or whose fields are malformed. */
export function readStripeEvent(stripe: Webhooks, secrets: string[], body: Uint8Array, signature: string) {
  const signed = readSigned(stripe, secrets, body, signature)
  if (!signed) return null
  try {
    const { id, type, data } = eventBody.parse(signed.value)
    return { id, type, about: aboutOf.get(type)?.(data.object) ?? null }
  } catch (error) {
    if (error instanceof z.ZodError) throw malformedEvent()
    throw error
  }
}
