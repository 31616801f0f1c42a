import { Stripe } from 'stripe'

const { StripeAPIError, StripeError, StripeIdempotencyError } = Stripe.errors

// Where it is out of reach: then the service is busy, and not at fault.
const networkCode = (detail: unknown) =>
  detail instanceof Error && 'code' in detail && typeof detail.code === 'string' ? detail.code : undefined

/** What Stripe refused or did not answer, by its name and code alone: the status is an answer to us, and not to whoever
 *  asked us. */
export class StripeFailure extends Error {
  readonly code: string | undefined

  constructor({ type, code, detail }: Stripe.errors.StripeError) {
    super('Stripe did not do it')
    this.name = type
    this.code = code ?? networkCode(detail)
  }
}

/** What a call to Stripe gives. Throws StripeFailure. */
export async function called<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof StripeError) throw new StripeFailure(error)
    throw error
  }
}

// Of one key there is one more each time.
const windowMs = 10_000

/** Makes a request under the same key each time, so that it is done once. Stripe gives its first answer again, an error
 *  of its own too, and refuses the key for a request that has changed since: only then another key is taken, which is
 *  the same for those who ask at once. */
export async function once<T>(key: string, request: (idempotencyKey: string) => Promise<T>): Promise<T> {
  try {
    return await request(key)
  } catch (error) {
    const isOld = error instanceof StripeAPIError && error.headers?.['idempotent-replayed'] === 'true'
    if (!isOld && !(error instanceof StripeIdempotencyError)) throw error
    return request(`${key}_${Math.floor(Date.now() / windowMs)}`)
  }
}
