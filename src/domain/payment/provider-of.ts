import type { Mode } from '../../shared/mode.ts'
import type { PaymentProvider } from './provider.ts'
import { sandboxProvider } from './sandbox.ts'

/** Returns the provider of payments of a mode: the service's for live ones, the sandbox for test ones,
 *  whatever the service is configured with, so that a test never takes money (DECISIONS 10). */
export const providerOf = (
  { provider }: { provider: PaymentProvider },
  { mode }: { mode: Mode },
): PaymentProvider => (mode === 'test' ? sandboxProvider : provider)
