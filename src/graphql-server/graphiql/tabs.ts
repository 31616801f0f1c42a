/** What the seeded demo has ready: a channel's key, and a rate with a price that can be bought now. */
export type Demo = { key: string; ticketRateId: string; priceId: string }

// Shown where there is no demo: to be replaced by what the first tab finds.
const placeholders: Demo = { key: '', ticketRateId: 'rate_…', priceId: 'price_…' }

const events = `# Events with everything that can be bought.
# Press play, or Ctrl-Enter. More arguments: search,
# near, startDate, endDate, organizationId, after.
query Events {
  events(first: 10) {
    totalCount
    pageInfo {
      hasNextPage
      endCursor
    }
    nodes {
      id
      name
      startDate
      age
      organization {
        name
      }
      location {
        name
        city
        timezone
      }
      ticketRates {
        id
        name
        available
        availability {
          sold
          available
        }
        currentPrice {
          id
          name
          price
          currency
        }
        prices {
          id
          name
          price
          validUntil
        }
        supplements {
          id
          label
          price
        }
        questions {
          id
          label
          required
          items
        }
        warranty {
          enabled
          percentage
          hours
        }
      }
    }
  }
}
`

const refused = `... on CheckoutRefused {
      errors {
        __typename
        code
        message
        path
      }
    }`

const quote = `# What a checkout would cost. Nothing is held.
query Quote($input: CheckoutInput!) {
  quoteCheckout(input: $input) {
    ... on CheckoutQuote {
      totalAmount
      currency
      conditionsChanged
      tickets {
        price {
          name
          price
        }
        totalSupplements
        totalFees
        totalWarranty
        totalPrice
      }
    }
    ${refused}
  }
}
`

const checkout = `# Holds the tickets until the payment expires.
# Open payment.url in another tab to pay.
mutation Checkout($input: CheckoutInput!) {
  checkout(input: $input) {
    ... on CheckoutPayload {
      totalAmount
      conditionsChanged
      payment {
        id
        url
        status
        expiresAt
        currency
      }
      tickets {
        id
        qrCode
        status
        fullName
      }
    }
    ${refused}
  }
}
`

const ticket = `# Reads one ticket back: put the id of one that
# the Checkout tab made into the variables.
query Ticket($id: ID!) {
  ticket(id: $id) {
    id
    status
    activationDate
    qrCode
    fullName
    totalPaid
    totalFees
    event {
      name
      startDate
    }
    ticketRate {
      name
    }
    price {
      name
      price
    }
    payment {
      id
      status
      paidAt
      totalAmount
      currency
    }
  }
}
`

const changes = `# What has changed since, the oldest first: keep
# endCursor, and ask again with it as after.
query Changes($after: ID) {
  changes(after: $after, first: 20) {
    nodes {
      type
      subjectId
      sequence
      data
      createdAt
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`

export type Tab = { query: string; variables: string; headers: string }

/** The tabs that GraphiQL opens with: events with all that is in them, a quote, a checkout, a ticket, what changed. */
export function graphiqlTabs({ key, ticketRateId, priceId }: Demo = placeholders): [Tab, ...Tab[]] {
  const headers = JSON.stringify({ 'X-Api-Key': key }, null, 2)
  const tab = (query: string, variables: object): Tab => ({
    query,
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
