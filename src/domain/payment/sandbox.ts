import type { PaymentProvider } from './provider.ts'

const expired = { kind: 'ended', status: 'expired' } as const

/** Provider for development and tests: takes no money and always succeeds. Production must select it
 *  explicitly. */
export const sandboxProvider: PaymentProvider = {
  name: 'sandbox',
  charge: async ({ id, totalAmount: amount, currency }) => ({
    kind: 'paid',
    money: { provider: 'sandbox', reference: `sandbox_${id}`, amount, currency },
  }),
  // The sandbox has no sessions.
  getSession: async () => expired,
  expireSession: async () => expired,
  refund: async ({ id }) => ({ kind: 'succeeded', reference: `sandbox_${id}` }),
}
