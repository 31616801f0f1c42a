import { beforeAll, expect, test } from 'vitest'
import { newId } from '../../../src/domain/contract/ids.ts'
import { aBuyer, aGuest } from '../../support/box-office.ts'
import { anEntry, toCheckoutInput } from '../../support/checkouts.ts'
import { toItems } from '../../support/contract-input.ts'
import { aCatalogueOfTwo, channelHeaders, integrationHeaders } from '../../support/factories.ts'
import { sharedSale } from '../../support/sale.ts'
import { holdTickets } from '../../support/tickets.ts'

// A foreign id and an absent one run the same statements; otherwise the response time would tell them apart.

type Headers = Record<string, string>

/** A channel of the first organization only, and an integration of it. */
let channel: Headers
let integration: { v1: Headers; v2: Headers }
/** Belongs to the second organization; sold by another channel. */
let foreign: { rate: string; ticket: string; payment: string }
const absent = { rate: newId('rate'), ticket: newId('tkt'), payment: newId('pay') }
const sale = sharedSale(aCatalogueOfTwo(100))
beforeAll(async () => {
  channel = await channelHeaders(sale.db, 'org_1')
  integration = await integrationHeaders(sale.db, 'org_1')
  const sold = await holdTickets(sale, { rate: '2' })
  foreign = { rate: 'rate_2', ticket: sold.tickets[0]?._id ?? '', payment: sold.payment_id }
})

let keys = 0
const nextKey = () => `key-${++keys}`
const body = (rate: string, price: string) => ({ ticket_rate_id: rate, tickets: [anEntry(price)] })
const quoted = (rate: string) => ({
  items: [{ ticketRateId: rate, tickets: [{ priceId: 'price_2' }] }],
})
const overGraphql = (query: string, variables: Record<string, unknown>, headers: Headers) =>
  sale.rest('POST', '/graphql', { headers, body: { query, variables } })

/** Returns the status, body and statements of a request, without the request id and the requested id. */
async function workOf(ask: () => Promise<{ statusCode: number; body: string }>, id: string) {
  // The first request prepares what later ones reuse.
  await ask()
  sale.statements.reset()
  const { statusCode, body } = await ask()
  const text = body.replaceAll(id, '').replace(/"request_id":"[^"]+"/, '')
  return { statusCode, text, statements: [...sale.statements] }
}

const problems = '... on Refused { errors { code message path } }'
const asks: [string, keyof typeof absent, (id: string) => Promise<{ statusCode: number; body: string }>][] = [
  [
    'a checkout over REST',
    'rate',
    (id) => sale.rest('POST', '/tickets/checkout', { headers: channel, body: body(id, 'price_2') }),
  ],
  [
    'a checkout over REST with a body too long to prefetch from',
    'rate',
    (id) =>
      sale.rest('POST', '/tickets/checkout', {
        headers: channel,
        body: {
          ticket_rate_id: id,
          // Over 8 kB.
          tickets: Array.from({ length: 50 }, () => anEntry('price_2', { full_name: 'x'.repeat(150) })),
        },
      }),
  ],
  [
    'a checkout over REST with an idempotency key',
    'rate',
    (id) =>
      sale.rest('POST', '/tickets/checkout', {
        headers: { ...channel, 'idempotency-key': 'once' },
        body: body(id, 'price_2'),
      }),
  ],
  [
    'checkout over GraphQL',
    'rate',
    (id) =>
      overGraphql(
        `mutation ($input: CheckoutInput!) { checkout(input: $input) { ${problems} } }`,
        { input: { ...toCheckoutInput(body(id, 'price_2')), idempotencyKey: nextKey() } },
        channel,
      ),
  ],
  [
    'quoteCheckout over GraphQL',
    'rate',
    (id) =>
      overGraphql(
        `query ($input: QuoteCheckoutInput!) { quoteCheckout(input: $input) { ${problems} } }`,
        { input: quoted(id) },
        channel,
      ),
  ],
  [
    'sellAtBoxOffice over GraphQL',
    'rate',
    (id) =>
      overGraphql(
        `mutation ($input: SellAtBoxOfficeInput!) { sellAtBoxOffice(input: $input) { ${problems} } }`,
        { input: { items: toItems(id, [aBuyer('price_2')]), method: 'CASH', idempotencyKey: nextKey() } },
        integration.v2,
      ),
  ],
  [
    'issueInvitations over GraphQL',
    'rate',
    (id) =>
      overGraphql(
        `mutation ($input: IssueInvitationsInput!) { issueInvitations(input: $input) { ${problems} } }`,
        { input: { ticketRateId: id, guests: [aGuest()], idempotencyKey: nextKey() } },
        integration.v2,
      ),
  ],
  [
    'two quotes in one query',
    'rate',
    (id) =>
      overGraphql(
        `query ($input: QuoteCheckoutInput!) {
          a: quoteCheckout(input: $input) { ... on Refused { errors { code } } }
          b: quoteCheckout(input: $input) { ... on Refused { errors { code } } } }`,
        { input: quoted(id) },
        channel,
      ),
  ],
  [
    'a rate over GraphQL',
    'rate',
    (id) => overGraphql('query ($id: ID!) { ticketRate(id: $id) { id } }', { id }, channel),
  ],
  ...(['v1', 'v2', 'both'] as const).map((method): (typeof asks)[number] => [
    `a look-up over REST by ${method}`,
    'ticket',
    (id) =>
      sale.rest('GET', `/integrations/tickets/${id}`, {
        headers: method === 'both' ? { ...integration.v1, ...integration.v2 } : integration[method],
      }),
  ]),
  [
    'a ticket over GraphQL',
    'ticket',
    (id) =>
      overGraphql(
        'query ($id: ID!) { ticket(id: $id) { id ticketRate { name } event { name } } }',
        { id },
        channel,
      ),
  ],
  [
    'a ticket over GraphQL by an integration',
    'ticket',
    (id) => overGraphql('query ($id: ID!) { ticket(id: $id) { id } }', { id }, integration.v1),
  ],
  [
    'a payment over GraphQL',
    'payment',
    (id) => overGraphql('query ($id: ID!) { payment(id: $id) { id } }', { id }, channel),
  ],
  ...(['rate', 'ticket', 'payment'] as const).map((kind): (typeof asks)[number] => [
    `a node, which is a ${kind}`,
    kind,
    (id) => overGraphql('query ($id: ID!) { node(id: $id) { id } }', { id }, channel),
  ]),
  [
    'cancelTickets',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { cancelTickets(input: { of: { ticketId: $id } }) { ${problems} } }`,
        { id },
        channel,
      ),
  ],
  [
    'cancelPayment',
    'payment',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { cancelPayment(input: { paymentId: $id }) { ${problems} } }`,
        { id },
        channel,
      ),
  ],
  [
    'returnTicket',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { returnTicket(input: { ticketId: $id }) { ${problems} } }`,
        { id },
        channel,
      ),
  ],
  [
    'refundTickets',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { refundTickets(input: { of: { ticketId: $id }, idempotencyKey: "${nextKey()}" }) { ${problems} } }`,
        { id },
        integration.v2,
      ),
  ],
  [
    'updateAttendees by ticketId',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { updateAttendees(input: { attendees: [{ ticketId: $id, fullName: "Zoe" }] }) { ${problems} } }`,
        { id },
        channel,
      ),
  ],
  [
    'transferTicket by ticketId',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { transferTicket(input: { ticketId: $id, attendee: { fullName: "Zoe", email: "zoe@example.com" } }) { ${problems} } }`,
        { id },
        channel,
      ),
  ],
  [
    'resendTickets by ticketId',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { resendTickets(input: { of: { ticketId: $id } }) { ${problems} } }`,
        { id },
        channel,
      ),
  ],
  [
    'resendTickets by paymentId',
    'payment',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { resendTickets(input: { of: { paymentId: $id } }) { ${problems} } }`,
        { id },
        channel,
      ),
  ],
  [
    'checkInTicket',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { checkInTicket(input: { ticket: { ticketId: $id }, eventId: "evt_1", idempotencyKey: "${nextKey()}" }) {
          ${problems} ... on CheckInTicketPayload { checkIn { outcome } } } }`,
        { id },
        integration.v2,
      ),
  ],
  [
    'checkInTickets',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { checkInTickets(input: { scans: [{ ticket: { ticketId: $id }, eventId: "evt_1", idempotencyKey: "${nextKey()}" }] }) {
          ${problems} ... on CheckInTicketsPayload { results { ... on CheckInTicketPayload { checkIn { outcome } } } } } }`,
        { id },
        integration.v2,
      ),
  ],
  [
    'redeemSupplement',
    'ticket',
    (id) =>
      overGraphql(
        `mutation ($id: ID!) { redeemSupplement(input: { ticket: { ticketId: $id }, eventId: "evt_1", supplementId: "sup_0", idempotencyKey: "${nextKey()}" }) {
          ${problems} ... on RedeemSupplementPayload { outcome } } }`,
        { id },
        integration.v2,
      ),
  ],
]

test.each(asks)(
  '%s runs the same statements for a foreign id as for an absent one',
  async (_what, kind, ask) => {
    const [theirs, nobodys] = [
      await workOf(() => ask(foreign[kind]), foreign[kind]),
      await workOf(() => ask(absent[kind]), absent[kind]),
    ]
    expect(theirs.statements.length).toBeGreaterThan(0)
    expect(theirs).toEqual(nobodys)
  },
)

test('control: an own id runs more statements and is answered', async () => {
  const own = await workOf(
    () => sale.rest('POST', '/tickets/checkout', { headers: channel, body: body('rate_1', 'price_1') }),
    'rate_1',
  )
  const other = await workOf(
    () => sale.rest('POST', '/tickets/checkout', { headers: channel, body: body(absent.rate, 'price_1') }),
    absent.rate,
  )
  expect([own.statusCode, other.statusCode]).toEqual([200, 404])
  expect(own.statements.length).toBeGreaterThan(other.statements.length)
})
