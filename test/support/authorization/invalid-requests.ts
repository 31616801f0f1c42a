import { type Ask, graphqlAsk } from './matrix-row.ts'

const graphql = (
  operation: 'query' | 'mutation',
  name: string,
  args: string,
  kinds: string,
): [string, Ask, string] => [name, graphqlAsk(operation, name, '', args)(), kinds]

/** Invalid requests, and the kinds of caller that may send them. Other callers must not learn what is
 *  invalid. */
export const invalidRequests: [name: string, ask: Ask, isFor: string][] = [
  graphql('query', 'events', 'first: 0', 'channel publishable integration'),
  graphql('query', 'changes', 'from: { at: OLDEST }, first: 0', 'channel integration'),
  graphql('query', 'discounts', 'first: 0', 'integration'),
  graphql(
    'query',
    'quoteCheckout',
    'input: { items: [{ ticketRateId: "", tickets: [] }] }',
    'channel publishable',
  ),
  graphql(
    'mutation',
    'checkout',
    'input: { items: [{ ticketRateId: "", tickets: [] }], idempotencyKey: "" }',
    'channel publishable',
  ),
  graphql(
    'mutation',
    'sellAtBoxOffice',
    'input: { items: [{ ticketRateId: "", tickets: [] }], method: CASH, idempotencyKey: "" }',
    'integration',
  ),
  graphql(
    'mutation',
    'issueInvitations',
    'input: { ticketRateId: "", guests: [], idempotencyKey: "" }',
    'integration',
  ),
  graphql(
    'mutation',
    'refundTickets',
    'input: { of: { ticketId: "x" }, amount: { amount: "-1", currency: "EUR" }, idempotencyKey: "" }',
    'integration',
  ),
  graphql(
    'mutation',
    'updateAttendees',
    'input: { attendees: [{ ticketId: "x", email: "x" }] }',
    'channel integration',
  ),
  graphql('mutation', 'updateAttendees', 'input: { attendees: [] }', 'channel integration'),
  graphql(
    'mutation',
    'transferTicket',
    'input: { ticketId: "x", attendee: { fullName: "", email: "x" } }',
    'channel integration',
  ),
  graphql(
    'mutation',
    'checkInTicket',
    'input: { ticket: { qrCode: "" }, eventId: "", idempotencyKey: "" }',
    'integration',
  ),
  graphql(
    'mutation',
    'checkInTicket',
    'input: { ticket: { ticketId: "x" }, eventId: "x", idempotencyKey: "x", people: 0 }',
    'integration',
  ),
  graphql('mutation', 'checkInTickets', 'input: { scans: [] }', 'integration'),
  graphql(
    'mutation',
    'redeemSupplement',
    'input: { ticket: { qrCode: "" }, eventId: "", supplementId: "", idempotencyKey: "" }',
    'integration',
  ),
  graphql('mutation', 'registerWebhook', 'input: { url: "x", idempotencyKey: "" }', 'channel integration'),
  graphql('mutation', 'updateWebhook', 'input: { webhookId: "x", url: "x" }', 'channel integration'),
  graphql('query', 'tickets', 'first: 0', 'channel integration'),
  graphql('query', 'payments', 'first: 0', 'channel integration'),
  ['GET /tickets', { method: 'GET', url: '/tickets?limit=0&nothing=1' }, 'channel'],
  [
    'GET /integrations/tickets',
    { method: 'GET', url: '/integrations/tickets?limit=0&nothing=1' },
    'integration',
  ],
  ['GET /events', { method: 'GET', url: '/events?limit=0&nothing=1' }, 'channel publishable integration'],
  [
    'GET /events/{eventId}',
    { method: 'GET', url: '/events/%00?nothing=1' },
    'channel publishable integration',
  ],
  ['GET /payments/{paymentId}', { method: 'GET', url: '/payments/%00?nothing=1' }, 'channel integration'],
  [
    'POST /tickets/checkout',
    { method: 'POST', url: '/tickets/checkout', body: { nothing: 1 } },
    'channel publishable',
  ],
  [
    'GET /integrations/tickets/{ticketId}',
    { method: 'GET', url: '/integrations/tickets/%00?nothing=1' },
    'integration',
  ],
  [
    'GET /integrations/events/{eventId}/scan-list',
    { method: 'GET', url: '/integrations/events/%00/scan-list?limit=0' },
    'integration',
  ],
]
