import { parse, print } from 'graphql'
import type { ExampleValues } from '../../rest/openapi/example-ids.ts'

// Texts of the tabs. A tab shows its comment as it is, and its query printed, one field per line.

const refund = `# Refunds one unit of what was paid, for integrations.
# Without an amount it refunds all that is left.
mutation Refund($input: RefundTicketInput!) {
  refundTicket(input: $input) {
    ... on RefundPayload {
      refund { id status amount currency ticket { refunded totalPaid refundAttempts { id status amount } } }
    }
    ... on Refused { errors { code message path } }
  }
}`

const webhook = `# Has changes sent to an address, signed with the
# secret. Its deliveries: webhookDeliveries.
mutation Webhook($input: RegisterWebhookInput!) {
  registerWebhook(input: $input) {
    ... on WebhookSecretPayload { secret webhook { id url types status } }
    ... on Refused { errors { code message path } }
  }
}`

type Examples = Omit<ExampleValues, 'eventId' | 'paymentId'>

// Shown if no values are known; users replace them with ids that the first tab returns.
const placeholders: Examples = {
  key: '',
  publishableKey: '',
  integrationKey: '',
  ticketRateId: 'rate_…',
  priceId: 'price_…',
  ticketId: 'tkt_…',
}

const refused = '... on CheckoutRefused { errors { __typename code message path } }'

const events = `# Lists events with everything on sale.
# Press play, or Ctrl-Enter. Further arguments:
# search, near, startDate, endDate, organizationId.
query Events {
  events(first: 10) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes {
      id name startDate age
      organization { name }
      location { name city timezone }
      ticketRates {
        id name available
        availability { sold available }
        currentPrice { id name price currency }
        prices { id name price validUntil }
        supplements { id label price }
        questions { id label required items }
        warranty { enabled percentage hours }
      }
    }
  }
}`

const quote = `# Prices a checkout without holding any tickets.
# A discountCode is optional.
query Quote($input: CheckoutInput!) {
  quoteCheckout(input: $input) {
    ... on CheckoutQuote {
      totalAmount currency conditionsChanged
      tickets {
        price { name price }
        totalDiscount totalSupplements totalFees totalWarranty totalPrice
      }
    }
    ${refused}
  }
}`

const checkout = `# Holds tickets until the payment expires.
# Open payment.url in another tab to pay.
mutation Checkout($input: CheckoutInput!) {
  checkout(input: $input) {
    ... on CheckoutPayload {
      totalAmount conditionsChanged
      payment { id url status expiresAt currency }
      tickets { id qrCode status fullName }
    }
    ${refused}
  }
}`

const ticket = `# Reads one ticket, as an integration of its
# organization. The channel reads what it sold.
query Ticket($id: ID!) {
  ticket(id: $id) {
    id status saleType activationDate qrCode fullName for enter
    totalPaid totalFees documentUrl
    event { name startDate }
    ticketRate { name }
    price { name price }
    payment { id status paidAt totalAmount currency }
  }
}`

const boxOffice = `# Sells at the door, for cash: the tickets are paid
# at once. For integrations.
mutation BoxOffice($input: SellAtBoxOfficeInput!) {
  sellAtBoxOffice(input: $input) {
    ... on BoxOfficePayload {
      totalAmount
      payment { id status method methodReference }
      tickets { id qrCode status documentUrl }
    }
    ${refused}
  }
}`

const door = `# Lets people in: TOO_EARLY until the doors open. The
# nonce makes a repeated scan return the first result.
# For integrations.
mutation Door($input: CheckInTicketInput!) {
  checkInTicket(input: $input) {
    ... on CheckIn {
      result people entered admits at idempotentReplayed
      ticket { fullName ticketRate { name } }
    }
    ... on Refused { errors { code message path } }
  }
}`

const changes = `# Lists changes, oldest first. To continue later,
# keep endCursor and pass it as after.
query Changes($after: String) {
  changes(after: $after, first: 20) {
    nodes { type subjectId sequence data createdAt }
    pageInfo { hasNextPage endCursor }
  }
}`

export type Tab = { query: string; variables: string; headers: string }

/** Builds the initial tabs of GraphiQL: events, a quote, a checkout, a ticket, the box office, the door, a
 *  refund, the change feed, a webhook. */
export function graphiqlTabs(examples: Examples = placeholders): [Tab, ...Tab[]] {
  const { ticketRateId, priceId, ticketId } = examples
  const tabWith =
    (key: string) =>
    (text: string, variables: object): Tab => ({
      query: `${(text.match(/^#.*\n/gm) ?? []).join('')}${print(parse(text))}\n`,
      variables: JSON.stringify(variables, null, 2),
      headers: JSON.stringify({ 'X-Api-Key': key }, null, 2),
    })
  const asPage = tabWith(examples.publishableKey)
  const asChannel = tabWith(examples.key)
  const asIntegration = tabWith(examples.integrationKey)
  const input = {
    ticketRateId,
    tickets: [{ priceId, fullName: 'Ada Lovelace', email: 'ada@example.com' }],
  }
  return [
    asPage(events, {}),
    asPage(quote, { input }),
    asChannel(checkout, { input }),
    asIntegration(ticket, { id: ticketId }),
    asIntegration(boxOffice, { input: { ...input, method: 'CASH', reference: 'till 1' } }),
    asIntegration(door, { input: { ticket: { ticketId }, nonce: 'first scan', people: 1 } }),
    asIntegration(refund, { input: { ticketId, amount: 1, idempotencyKey: 'first-refund' } }),
    asChannel(changes, {}),
    asIntegration(webhook, {
      input: { url: 'https://hooks.example.com/boxoffice', types: ['TICKET_ENTERED'] },
    }),
  ]
}
