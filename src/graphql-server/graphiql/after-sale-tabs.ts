// Tabs for what follows a sale: a comment and a query each, as in tabs.ts.

export const refund = [
  `# Refunds one unit of what was paid, for integrations.
# Without an amount it refunds all that is left.`,
  `mutation Refund($input: RefundTicketInput!) {
    refundTicket(input: $input) {
      ... on RefundPayload {
        refund { id status amount currency ticket { refunded totalPaid refundAttempts { id status amount } } }
      }
      ... on Refused { errors { code message path } }
    }
  }`,
] as const

export const webhook = [
  `# Has changes sent to an address, signed with the
# secret. Its deliveries: webhookDeliveries.`,
  `mutation Webhook($input: RegisterWebhookInput!) {
    registerWebhook(input: $input) {
      ... on WebhookSecretPayload { secret webhook { id url types status } }
      ... on Refused { errors { code message path } }
    }
  }`,
] as const
