import type { Config } from '../../config/config.ts'
import type { PaymentProvider } from './provider.ts'
import { sandboxProvider } from './sandbox.ts'

/** Creates the payment provider that the configuration selects. */
export async function openProvider({ stripe }: Pick<Config, 'stripe'>): Promise<PaymentProvider> {
  if (!stripe) return sandboxProvider
  // Imported on demand, because the SDK costs memory and start-up time.
  const { stripeProvider } = await import('./stripe/stripe.ts')
  return stripeProvider(stripe)
}
