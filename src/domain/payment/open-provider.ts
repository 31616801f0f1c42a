import type { Config } from '../../config/config.ts'
import type { PaymentProvider } from './provider.ts'
import { sandboxProvider } from './sandbox.ts'

/** Who takes the money, as the settings say. */
export async function openProvider({ stripe }: Pick<Config, 'stripe'>): Promise<PaymentProvider> {
  if (!stripe) return sandboxProvider
  // Loaded where it is used: it costs memory and a part of the start.
  const { stripeProvider } = await import('./stripe/stripe.ts')
  return stripeProvider(stripe)
}
