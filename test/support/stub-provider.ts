import type { PaymentOutcome, PaymentProvider } from '../../src/domain/payment/provider.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'

/** The outcome of a paid payment. Use different references for two charges of the same payment. */
export const paidOutcome = (
  paymentId: string,
  more: { amount?: number; currency?: string; reference?: string } = {},
): PaymentOutcome => ({
  kind: 'paid',
  money: { provider: 'test', reference: `test_${paymentId}`, amount: 2200, currency: 'EUR', ...more },
})

/** The outcome of a payment that ended unpaid. */
export const endedOutcome = (status: 'failed' | 'cancelled' | 'expired'): PaymentOutcome => ({
  kind: 'ended',
  status,
})

/** A payment provider that behaves like the sandbox except for the given overrides. */
export const stubProvider = (overrides: Partial<PaymentProvider> = {}): PaymentProvider => ({
  ...sandboxProvider,
  name: 'test',
  ...overrides,
})
