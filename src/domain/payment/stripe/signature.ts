import type { Stripe } from 'stripe'
import { Stripe as StripeSdk } from 'stripe'
import { Refusal } from '../../../shared/errors.ts'

const { StripeSignatureVerificationError } = StripeSdk.errors

// Seconds that a signature is good for, before and after it was made: a recorded request can't be sent again later, and
// one that was made for later can't be kept until then.
const toleranceSeconds = 300

// t=1700000000,v1=<64 hexadecimal digits>, in which v1 may stand twice and other schemes beside it.
const item = /^(?:t=(\d{1,12})|v1=[\da-f]{64}|(?!t=|v1=)\w+=\w*)$/

/** Seconds since 1970 at which a signature was made. Null where its header is not formed as Stripe forms it: the SDK
 *  throws errors of any kind for such ones. */
function signedAt(header: string): number | null {
  const items = header.split(',').map((text) => item.exec(text))
  const times = items.flatMap((match) => match?.[1] ?? [])
  const isWellFormed = items.every((match) => match) && /(?:^|,)v1=/.test(header)
  return isWellFormed && times.length === 1 ? Number(times[0]) : null
}

/** Refuses a signed body that is no event: the sender is Stripe, or has its secret, and is told so. */
export const malformedEvent = () =>
  new Refusal({ code: 'BAD_REQUEST', message: 'The event is malformed: it is signed, and can not be read.' })

/** Reads the JSON of a body that Stripe signed with one of the secrets, of which there are two while one is replaced.
 *  Null where the signature is missing, malformed, wrong, too old or of a time that is still to come.
 *  Refuses: BAD_REQUEST, for what is signed and no JSON. */
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
      // Anything else is thrown after the signature was found to be good.
      if (!(error instanceof StripeSignatureVerificationError)) throw malformedEvent()
    }
  }
  return null
}
