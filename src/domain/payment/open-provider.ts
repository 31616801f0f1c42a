import { perInstance } from '../../engine/base/make-once.ts'
import { createBulkhead } from '../../engine/base/turns.ts'
import type { Mode } from '../caller/mode.ts'
import type { PaymentProvider } from './provider.ts'
import { sandboxProvider } from './sandbox.ts'
import type { StripeSettings } from './stripe/settings.ts'

type ProviderConfig = { paymentProvider: 'sandbox' | 'stripe'; stripe: StripeSettings | null }

/** Creates the payment provider that the configuration selects. */
export async function openProvider({ paymentProvider, stripe }: ProviderConfig) {
  if (paymentProvider === 'sandbox') return sandboxProvider
  if (!stripe) throw new Error('the settings of Stripe are missing')
  // Imported on demand, because the SDK costs memory and start-up time.
  const { stripeProvider } = await import('./stripe/stripe.ts')
  return stripeProvider(stripe)
}

/** Returns the provider of payments of a mode: the service's for live ones, the sandbox for test ones,
 *  whatever the service is configured with, so that a test never takes money (DECISIONS, keys). */
export const providerOf = ({ provider }: { provider: PaymentProvider }, { mode }: { mode: Mode }) =>
  mode === 'test' ? sandboxProvider : provider

// Calls of an organization that sells at its best are some 100 a second, which is a provider's own limit.
const callsOf = perInstance((_: PaymentProvider) =>
  createBulkhead({
    maxAtOnce: 50,
    maxOfOwner: 40,
    maxWaiting: 500,
    words: 'Too many payments at once. Try again.',
  }),
)

/** Calls a provider for somebody who waits, at the turn of the organization. Refuses: BUSY if too many of its wait. */
export const askProvider = <Answer>(
  provider: PaymentProvider,
  { organizationId }: { organizationId: string },
  call: () => Promise<Answer>,
): Promise<Answer> => callsOf(provider)(organizationId, call)
