/** Rights of an integration's key, in the order in which they are shown. A key has all of them where none is
 *  named (DECISIONS 10). */
export const integrationScopes = ['tickets:read', 'door', 'refunds', 'sales', 'catalogue'] as const

export type IntegrationScope = (typeof integrationScopes)[number]

/** Scope that an integration needs for each root field of GraphQL, for the two kinds of things that `node`
 *  finds, and for each REST route. Whatever is not listed is for channels alone, or shows nothing of a sale or a
 *  catalogue. Changes of a holder are `sales`, because whoever sold a ticket corrects it; cancelling is `refunds`,
 *  because it takes a ticket back. */
export const scopeOfOperation: Readonly<Record<string, IntegrationScope>> = {
  'Query.ticket': 'tickets:read',
  'Query.tickets': 'tickets:read',
  'Query.payment': 'tickets:read',
  'Query.payments': 'tickets:read',
  'Query.changes': 'tickets:read',
  'Query.webhooks': 'tickets:read',
  'Query.webhookDeliveries': 'tickets:read',
  'Mutation.registerWebhook': 'tickets:read',
  'Mutation.updateWebhook': 'tickets:read',
  'Mutation.enableWebhook': 'tickets:read',
  'Mutation.disableWebhook': 'tickets:read',
  'Mutation.deleteWebhook': 'tickets:read',
  'Mutation.rotateWebhookSecret': 'tickets:read',
  'Mutation.redeliverWebhook': 'tickets:read',
  'Subscription.changes': 'tickets:read',
  'Node of a sale': 'tickets:read',
  'GET /integrations/tickets': 'tickets:read',
  'GET /integrations/tickets.csv': 'tickets:read',
  'GET /integrations/tickets.ndjson': 'tickets:read',
  'GET /integrations/tickets/{ticketId}': 'tickets:read',
  'GET /payments/{paymentId}': 'tickets:read',
  'Mutation.checkInTicket': 'door',
  'Mutation.checkInTickets': 'door',
  'Mutation.redeemSupplement': 'door',
  'Subscription.checkIns': 'door',
  'GET /integrations/events/{eventId}/scan-list': 'door',
  'Mutation.refundTicket': 'refunds',
  'Mutation.cancelTicket': 'refunds',
  'Query.sales': 'sales',
  'Mutation.sellAtBoxOffice': 'sales',
  'Mutation.issueInvitations': 'sales',
  'Mutation.updateAttendee': 'sales',
  'Mutation.updateAttendees': 'sales',
  'Mutation.transferTicket': 'sales',
  'Mutation.resendTickets': 'sales',
  'Query.events': 'catalogue',
  'GET /events': 'catalogue',
  'Query.event': 'catalogue',
  'Query.ticketRate': 'catalogue',
  'Query.organizations': 'catalogue',
  'Query.discounts': 'catalogue',
  'Subscription.rateAvailability': 'catalogue',
  'GET /events/{eventId}': 'catalogue',
  'Node of a catalogue': 'catalogue',
}

/** Returns the scope that an operation needs and a key with these scopes lacks; null if it may do it. */
export function lackedScope(operation: string, scopes: readonly IntegrationScope[]): IntegrationScope | null {
  const needed = scopeOfOperation[operation]
  return needed === undefined || scopes.includes(needed) ? null : needed
}

/** Fields of a ticket that every key sees which may scan, cancel or refund it (DECISIONS 103). */
export const ticketFieldsAtDoor: ReadonlySet<string> = new Set([
  ...['id', 'mode', 'saleType', 'status', 'checkoutStatus', 'createdAt', 'activationDate', 'updatedAt'],
  ...['fullName', 'name', 'for', 'enter', 'entryTime', 'entryDate', 'supplements', 'paymentCurrency'],
  ...['event', 'eventId', 'ticketRate', 'ticketRateId', 'rateId', 'rateName', 'rateSlug', 'price', 'priceId'],
])

/** Reports whether a key with these scopes sees a ticket whole: it reads tickets, or sells them and corrects
 *  their holders. */
export const seesWholeTickets = (scopes: readonly IntegrationScope[]): boolean =>
  scopes.includes('tickets:read') || scopes.includes('sales')
