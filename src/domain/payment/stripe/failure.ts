import { Stripe } from 'stripe'
import { errorCode } from '../../../shared/errors.ts'

const { StripeAPIError, StripeError, StripeIdempotencyError } = Stripe.errors

/** Error of Stripe's, reduced to its name and code. Its HTTP status is meant for us, and must not become the
 *  status of our own response. */
class StripeFailure extends Error {
  readonly code: string | undefined

  constructor({ type, code, detail }: Stripe.errors.StripeError) {
    super('Stripe call failed')
    this.name = type
    // A network error's code makes it pass for an unavailable service instead of a fault of ours.
    this.code = code ?? errorCode(detail)
  }
}

/** Calls Stripe and turns its errors into StripeFailure. */
export async function throwStripeFailure<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof StripeError) throw new StripeFailure(error)
    throw error
  }
}

// Each window has one replacement key.
const windowMs = 10_000

/** Makes a request under a fixed idempotency key, so that it is executed once. Stripe repeats the first
 *  response for a key, even its own server error, and refuses the key if the request has changed. In these
 *  cases retries once with a replacement key, which concurrent callers share. */
export async function idempotently<T>(
  key: string,
  request: (idempotencyKey: string) => Promise<T>,
): Promise<T> {
  try {
    return await request(key)
  } catch (error) {
    const isReplayed = error instanceof StripeAPIError && error.headers?.['idempotent-replayed'] === 'true'
    if (!isReplayed && !(error instanceof StripeIdempotencyError)) throw error
    return request(`${key}_${Math.floor(Date.now() / windowMs)}`)
  }
}
