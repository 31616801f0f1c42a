import { parse, print } from 'graphql'
import type { ExampleValues } from '../domain/contract/ids.ts'
import { iconUrl } from '../domain/language/page.ts'
import type { Editor, Tab } from '../engine/graphql-server/graphiql/page.ts'

// Texts of the tabs. A tab shows its comment as it is, and its query printed, one field per line.

const refused = '... on Refused { errors { code message path } }'

// Tag of what a mutation selects of its payload, beside the reasons of a refusal.
function mutation(name: string, field: string) {
  const type = field.charAt(0).toUpperCase() + field.slice(1)
  return ([selection]: TemplateStringsArray) => `mutation ${name}($input: ${type}Input!) {
  ${field}(input: $input) { ... on ${type}Payload { ${selection} } ${refused} }
}`
}

const refund = `# Refunds one unit of what was paid, for integrations.
# Without an amount it refunds all that is left.
${mutation('Refund', 'refundTickets')`refunds {
    id status amount { amount currency }
    ticket { settlement { paid { amount } refunded { amount } } refunds { id status } }
  }`}`

const webhook = `# Has changes sent to an address, signed with the
# secret. The same idempotencyKey shows it again for
# a day, and makes no second webhook.
${mutation('Webhook', 'registerWebhook')`secret webhook { id url types status }`}`

type Examples = Omit<ExampleValues, 'eventId' | 'paymentId'>

// Shown if no values are known; users replace them with ids that the first tab returns.
const placeholders: Examples = {
  ...{ key: '', publishableKey: '', integrationKey: '', doorEventId: 'evt_…', doorTicketId: 'tkt_…' },
  ...{ ticketRateId: 'rate_…', priceId: 'price_…', ticketId: 'tkt_…' },
}

const events = `# Lists events with everything on sale. Press play,
# or Ctrl-Enter. To search, give a filter: search,
# starts, during, near, city, musicGenre.
query Events {
  events(first: 10) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes {
      id name startDate minimumAge
      organization { name }
      location { name city timezone }
      ticketRates {
        id name status
        availability { available unlimited }
        currentPrice { id name price { amount currency } fee { amount } total { amount } }
        prices { id name total { amount } validUntil }
        supplements { id name price { amount } }
        questions { id label type required options { id label } }
        warranty { percentage endsAt }
      }
    }
  }
}`

const quote = `# Prices a checkout without holding any tickets.
# A discountCode is optional.
query Quote($input: QuoteCheckoutInput!) {
  quoteCheckout(input: $input) {
    ... on CheckoutQuote {
      conditionsChanged
      amounts {
        price { amount } discount { amount } supplements { amount }
        fees { amount } warranty { amount } total { amount currency }
      }
      items { ticketRate { name } tickets { price { name } amounts { total { amount } } } }
    }
    ${refused}
  }
}`

const checkout = `# Holds tickets until the payment expires.
# Open payment.pageUrl in another tab to pay. Another
# order has another idempotencyKey.
${mutation('Checkout', 'checkout')`conditionsChanged
  payment { id pageUrl status expiresAt totalAmount { amount currency } }
  tickets { id qrCode status attendee { fullName } }
  ticketRates { id availability { available } }`}`

const places = `# Streams what is left of a rate. Leave it running
# and check out in another tab: it tells at once.
subscription Places($of: RatesBy!) {
  ticketRates(of: $of) {
    id status availability { available unlimited } currentPrice { id name total { amount currency } }
  }
}`

const ticket = `# Reads one ticket, as an integration of its
# organization. The channel reads what it sold.
query Ticket($id: ID!) {
  ticket(id: $id) {
    id status saleType activatedAt qrCode admits inside documentUrl
    attendee { fullName email }
    amounts { fees { amount } total { amount currency } }
    settlement { paid { amount } net { amount } }
    event { name startDate }
    ticketRate { name }
    price { name price { amount } }
    payment { id status paidAt totalAmount { amount } }
  }
}`

const boxOffice = `# Sells at the door, for cash: the tickets are paid
# at once. For integrations.
${mutation('BoxOffice', 'sellAtBoxOffice')`
  payment { id status totalAmount { amount currency } boxOffice { method reference } }
  tickets { id qrCode status documentUrl }`}`

const door = `# Lets people in: OK, or the reason why not. The
# idempotencyKey makes a repeated scan return the
# first outcome. For integrations.
${mutation('Door', 'checkInTicket')`replayed checkIn {
    outcome people inside admits scannedAt ticket { attendee { fullName } ticketRate { name } }
  }`}`

const changes = `# Lists changes, oldest first. To go on later,
# keep endCursor and begin after it:
# {"from": {"after": "…"}}
query Changes($from: FeedStart!) {
  changes(from: $from, first: 20) {
    nodes {
      type sequence createdAt
      subject {
        __typename
        ... on Payment { id paymentStatus: status }
        ... on Ticket { id ticketStatus: status }
        ... on TicketRate { id rateStatus: status }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}`

/** Builds the initial tabs of GraphiQL: events, a quote, a checkout, the places left, a ticket, the box office, the door,
 *  a refund, the change feed, a webhook. */
export function graphiqlTabs(examples: Examples = placeholders): [Tab, ...Tab[]] {
  const { ticketRateId, priceId, ticketId, doorEventId: eventId, doorTicketId } = examples
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
  const attendee = { fullName: 'Ada Lovelace', email: 'ada@example.com' }
  const itemsOf = (ticket: object) => [{ ticketRateId, tickets: [{ priceId, ...ticket }] }]
  const items = itemsOf({ attendee })
  return [
    asPage(events, {}),
    asPage(quote, { input: { items: itemsOf({}) } }),
    asChannel(checkout, { input: { items, idempotencyKey: 'first-checkout' } }),
    asPage(places, { of: { ids: [ticketRateId] } }),
    asIntegration(ticket, { id: ticketId }),
    asIntegration(boxOffice, {
      input: { items, method: 'CASH', reference: 'till 1', idempotencyKey: 'first-sale' },
    }),
    asIntegration(door, {
      input: { ticket: { ticketId: doorTicketId }, eventId, idempotencyKey: 'first-scan', people: 1 },
    }),
    asIntegration(refund, {
      input: {
        of: { ticketId },
        amount: { amount: '1.00', currency: 'EUR' },
        idempotencyKey: 'first-refund',
      },
    }),
    asIntegration(changes, { from: { at: 'OLDEST' } }),
    asIntegration(webhook, {
      input: {
        url: 'https://hooks.example.com/boxoffice',
        types: ['TICKET_ENTERED'],
        idempotencyKey: 'first-webhook',
      },
    }),
  ]
}

/** GraphiQL of this service. */
export const editor: Editor<ExampleValues> = {
  name: 'Boxoffice',
  iconUrl,
  tabsOf: (examples) => ({ tabs: graphiqlTabs(examples), key: examples?.key ?? '' }),
}
