import type { Stripe } from 'stripe'
import { z } from 'zod'
import type { Outcome, ProviderEvent } from '../provider.ts'
import { refundOutcome, sessionOutcome, UnreadableMoney } from './outcome.ts'
import { malformedEvent, readSigned } from './signature.ts'

// PostgreSQL keeps no NUL in a text, and no text of any length in an index. Stripe's identifiers have 255 characters at
// most, and what we write as metadata fewer.
const word = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{Cc}+$/u)

// Stripe's own words, which are logged: nothing else of a body may get there.
const logged = z.string().regex(/^[\w.:-]{1,255}$/)

const eventBody = z.object({
  id: logged,
  type: logged,
  data: z.object({ object: z.record(z.string(), z.unknown()) }),
})

// An account may be used for other things as well: what lacks our metadata is not ours to judge.
const ownSession = z.object({ metadata: z.object({ payment_id: word.optional() }).nullish() })
const ownRefund = z.object({ metadata: z.object({ refund_id: word.optional() }).nullish() })

const sessionBody = z.object({
  id: word,
  status: word.nullable(),
  payment_status: word,
  payment_intent: z.union([word, z.object({ id: word, status: word.optional() })]).nullish(),
  amount_total: z.number().nullish(),
  currency: word.nullish(),
})

const refundBody = z.object({ id: word, status: word.nullable(), failure_reason: word.nullish() })

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (!parsed.success) throw malformedEvent()
  return parsed.data
}

// Only who has the secret key can write metadata, while a buyer may choose a `client_reference_id` on some pages.
function aboutSession(object: object, given?: Outcome): ProviderEvent['about'] {
  const paymentId = read(ownSession, object).metadata?.payment_id
  if (!paymentId) return null
  const session = read(sessionBody, object)
  const outcome = given ?? sessionOutcome(session)
  return outcome && { kind: 'session', id: session.id, paymentId, outcome }
}

function aboutRefund(object: object): ProviderEvent['about'] {
  const id = read(ownRefund, object).metadata?.refund_id
  return id ? { kind: 'refund', id, outcome: refundOutcome(read(refundBody, object)) } : null
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

/** Reads an event that Stripe signed with one of the secrets. Null where the signature is not good: see readSigned.
 *  Refuses: BAD_REQUEST, for what is signed and no event, or one of ours whose fields are not Stripe's. */
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
