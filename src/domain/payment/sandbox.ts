import type { PaymentProvider } from './provider.ts'

const expired = { kind: 'ended', status: 'expired' } as const

/** Address of a ticket whose order the sandbox declines, as a bank does a card. The button Decline asks for
 *  the same. */
export const declinedEmail = 'declined@example.com'

const failedEmail = 'failed@example.com'

/** Addresses of tickets that the sandbox heeds (DECISIONS 77). */
export const testEmails = [declinedEmail, failedEmail]

/** Provider for development and tests: takes no money and succeeds, unless it is asked for another outcome
 *  (DECISIONS 77). Production must select it explicitly. */
export const sandboxProvider: PaymentProvider = {
  name: 'sandbox',
  charge: async ({ id, totalAmount: amount, currency, testEmail }) => {
    if (testEmail === declinedEmail) return { kind: 'declined' }
    if (testEmail === failedEmail) return { kind: 'ended', status: 'failed' }
    return { kind: 'paid', money: { provider: 'sandbox', reference: `sandbox_${id}`, amount, currency } }
  },
  // The sandbox has no sessions.
  getSession: async () => expired,
  expireSession: async () => expired,
  refund: async ({ id }) => ({ kind: 'succeeded', reference: `sandbox_${id}` }),
}
