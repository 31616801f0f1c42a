import type { PaymentProvider } from './provider.ts'

const expired = { kind: 'ended', status: 'expired' } as const

/** Takes no money and always succeeds: for trying things out. Production must ask for it by name. */
export const sandboxProvider: PaymentProvider = {
  name: 'sandbox',
  charge: async ({ id, totalAmount: amount, currency }) => ({
    kind: 'paid',
    money: { provider: 'sandbox', reference: `sandbox_${id}`, amount, currency },
  }),
  // It has no sessions.
  look: async () => expired,
  close: async () => expired,
  refund: async ({ id }) => ({ kind: 'succeeded', reference: `sandbox_${id}` }),
}
