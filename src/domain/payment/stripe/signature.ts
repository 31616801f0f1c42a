import type { Stripe } from 'stripe'
import { Stripe as StripeSdk } from 'stripe'
import { Refusal } from '../../../shared/errors.ts'

const { StripeSignatureVerificationError } = StripeSdk.errors

// Signatures are valid for this long before and after their timestamp: a recorded request can't be replayed
// later, nor a post-dated one be saved up.
const toleranceSeconds = 300

// Format: t=1700000000,v1=<64 hexadecimal digits>. May repeat v1, and contain other schemes.
const item = /^(?:t=(\d{1,12})|v1=[\da-f]{64}|(?!t=|v1=)\w+=\w*)$/

/** Reads the timestamp of a signature, in seconds since 1970. Null if the header is malformed: the SDK throws
 *  errors of any kind for those. */
function signedAt(header: string): number | null {
  const items = header.split(',').map((text) => item.exec(text))
  const times = items.flatMap((match) => match?.[1] ?? [])
  const isWellFormed = items.every((match) => match) && /(?:^|,)v1=/.test(header)
  return isWellFormed && times.length === 1 ? Number(times[0]) : null
}

/** Creates the refusal of a signed body that can't be read. Its sender is Stripe, or has the secret, and may
 *  know. */
export const malformedEvent = () =>
  new Refusal({ code: 'BAD_REQUEST', message: 'The event is malformed, although its signature is valid.' })

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
