import { parse, print } from 'graphql'

/** Values from the seeded demo: a channel's key, and a ticket rate with a price that is on sale. */
export type Demo = { key: string; ticketRateId: string; priceId: string }

// Shown if there is no demo; users replace them with ids that the first tab returns.
const placeholders: Demo = { key: '', ticketRateId: 'rate_…', priceId: 'price_…' }

const refused = '... on CheckoutRefused { errors { __typename code message path } }'

// A comment and a query. The tab shows the query printed, one field per line.
const events = [
  `# Lists events with everything on sale.
# Press play, or Ctrl-Enter. Further arguments:
# search, near, startDate, endDate, organizationId.`,
  `query Events {
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
  }`,
] as const

const quote = [
  '# Prices a checkout without holding any tickets.',
  `query Quote($input: CheckoutInput!) {
    quoteCheckout(input: $input) {
      ... on CheckoutQuote {
        totalAmount currency conditionsChanged
        tickets {
          price { name price }
          totalSupplements totalFees totalWarranty totalPrice
        }
      }
      ${refused}
    }
  }`,
] as const

const checkout = [
  `# Holds tickets until the payment expires.
# Open payment.url in another tab to pay.`,
  `mutation Checkout($input: CheckoutInput!) {
    checkout(input: $input) {
      ... on CheckoutPayload {
        totalAmount conditionsChanged
        payment { id url status expiresAt currency }
        tickets { id qrCode status fullName }
      }
      ${refused}
    }
  }`,
] as const

const ticket = [
  `# Reads one ticket. Set the id in the variables
# to that of a ticket from the Checkout tab.`,
  `query Ticket($id: ID!) {
    ticket(id: $id) {
      id status activationDate qrCode fullName totalPaid totalFees
      event { name startDate }
      ticketRate { name }
      price { name price }
      payment { id status paidAt totalAmount currency }
    }
  }`,
] as const

const changes = [
  `# Lists changes, oldest first. To continue later,
# keep endCursor and pass it as after.`,
  `query Changes($after: ID) {
    changes(after: $after, first: 20) {
      nodes { type subjectId sequence data createdAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
] as const

export type Tab = { query: string; variables: string; headers: string }

/** Builds the initial tabs of GraphiQL: events, a quote, a checkout, a ticket, the change feed. */
export function graphiqlTabs({ key, ticketRateId, priceId }: Demo = placeholders): [Tab, ...Tab[]] {
  const headers = JSON.stringify({ 'X-Api-Key': key }, null, 2)
  const tab = ([comment, query]: readonly [string, string], variables: object): Tab => ({
    query: `${comment}\n${print(parse(query))}\n`,
    variables: JSON.stringify(variables, null, 2),
    headers,
  })
  const input = {
    ticketRateId,
    tickets: [{ priceId, fullName: 'Ada Lovelace', email: 'ada@example.com' }],
  }
  const sale = [tab(quote, { input }), tab(checkout, { input })]
  return [tab(events, {}), ...sale, tab(ticket, { id: 'tkt_…' }), tab(changes, {})]
}
