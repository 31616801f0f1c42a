import type { Outcome, PaymentProvider } from '../../src/domain/payment/provider.ts'
import { sandboxProvider } from '../../src/domain/payment/sandbox.ts'

/** That money came for a payment. Who takes it twice says so under two references. */
export const paidOutcome = (
  paymentId: string,
  more: { amount?: number; currency?: string; reference?: string } = {},
): Outcome => ({
  kind: 'paid',
  money: { provider: 'test', reference: `test_${paymentId}`, amount: 2200, currency: 'EUR', ...more },
})

/** That a payment ended without money. */
export const endedOutcome = (status: 'failed' | 'cancelled' | 'expired'): Outcome => ({
  kind: 'ended',
  status,
})

/** A provider that takes money as the sandbox does, but for what a test says. */
export const stubProvider = (given: Partial<PaymentProvider> = {}): PaymentProvider => ({
  ...sandboxProvider,
  name: 'test',
  ...given,
})
