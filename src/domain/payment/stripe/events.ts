import { Stripe } from 'stripe'
import { z } from 'zod'
import { refusal } from '../../../shared/errors.ts'
import type { PaymentOutcome, ProviderEvent } from '../provider.ts'
import { refundBody, refundOutcome, sessionBody, sessionOutcome, UnreadableMoney, word } from './outcome.ts'

const { StripeSignatureVerificationError } = Stripe.errors

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
export function readSigned(
  { webhooks }: Pick<Stripe, 'webhooks'>,
  secrets: string[],
  body: Uint8Array,
  header: string,
): { value: unknown } | null {
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

// An account may serve other applications as well: objects without our metadata are ignored.
const ownSession = z.object({
  metadata: z.object({ payment_id: word.optional(), organization_id: word.optional() }).nullish(),
})
const ownRefund = z.object({
  metadata: z.object({ refund_id: word.optional(), organization_id: word.optional() }).nullish(),
})

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw malformedEvent()
  return parsed.data
}

// Trusts metadata, which only the holder of the secret key can write. A buyer may set `client_reference_id`
// on some pages.
function aboutSession(object: object, knownOutcome?: PaymentOutcome): ProviderEvent['about'] {
  const { payment_id: paymentId, organization_id: organizationId } = read(ownSession, object).metadata ?? {}
  if (!paymentId || !organizationId) return null
  const session = read(sessionBody, object)
  const outcome = knownOutcome ?? sessionOutcome(session)
  return outcome && { kind: 'session', id: session.id, paymentId, organizationId, outcome }
}

function aboutRefund(object: object): ProviderEvent['about'] {
  const { refund_id: id, organization_id: organizationId } = read(ownRefund, object).metadata ?? {}
  if (!id || !organizationId) return null
  return { kind: 'refund', id, organizationId, outcome: refundOutcome(read(refundBody, object)) }
}

function aboutOf({ type, data: { object } }: z.output<typeof eventBody>): ProviderEvent['about'] {
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.expired':
      return aboutSession(object)
    case 'checkout.session.async_payment_failed':
      return aboutSession(object, { kind: 'ended', status: 'failed' })
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return aboutRefund(object)
    default:
      return null
  }
}

/** Reads an event that Stripe signed with one of the secrets. Null if the signature is invalid: see
 *  readSigned.
 *  Refuses: BAD_REQUEST for a signed body that is not an event, or whose fields are malformed. */
export function readStripeEvent(
  stripe: Pick<Stripe, 'webhooks'>,
  secrets: string[],
  body: Uint8Array,
  signature: string,
): ProviderEvent | null {
  const signed = readSigned(stripe, secrets, body, signature)
  if (!signed) return null
  const event = read(eventBody, signed.value)
  try {
    return { id: event.id, type: event.type, about: aboutOf(event) }
  } catch (error) {
    if (error instanceof UnreadableMoney) throw malformedEvent()
    throw error
  }
}
