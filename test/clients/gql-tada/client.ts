import type { ResultOf, TadaDocumentNode, VariablesOf } from 'gql.tada'
import { print } from 'graphql'
import { createClient } from 'graphql-sse'
import { graphql } from './graphql.ts'

const rateFields = graphql(`
  fragment RateFields on TicketRate @_unmask {
    id name available
    availability { available }
    currentPrice { id price currency }
  }
`)

const eventsQuery = graphql(
  `
    query Events($search: String) {
      events(first: 20, search: $search) { nodes { id name ticketRates { ...RateFields } } }
    }
  `,
  [rateFields],
)

const checkoutMutation = graphql(`
  mutation Checkout($input: CheckoutInput!) {
    checkout(input: $input) {
      __typename
      ... on CheckoutPayload { totalAmount payment { id url } }
      ... on CheckoutRefused { errors { code message path ... on TicketCountError { min max } } }
    }
  }
`)

const paymentQuery = graphql(`query Payment($id: ID!) { payment(id: $id) { id status } }`)

const placesSubscription = graphql(`
  subscription Places($eventId: ID!) {
    rateAvailability(eventId: $eventId) { ticketRateId available left }
  }
`)

type Places = ResultOf<typeof placesSubscription>

/** Connects with a channel's key, on a server. */
export function connect({ url, key }: { url: string; key: string }) {
  const headers = { 'X-Api-Key': key }
  const events = createClient({ url: `${url}/graphql`, headers })

  async function execute<Data, Variables>(
    document: TadaDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: print(document), variables }),
    })
    const { data, errors } = await response.json()
    if (errors) throw new Error(errors[0].message, { cause: errors })
    return data
  }

  return {
    async listEvents(search: string) {
      const { events } = await execute(eventsQuery, { search })
      return events?.nodes ?? []
    },
    async checkOut(input: VariablesOf<typeof checkoutMutation>['input']) {
      const { checkout } = await execute(checkoutMutation, { input })
      return checkout
    },
    async readPayment({ id }: { id: string }) {
      const { payment } = await execute(paymentQuery, { id })
      return payment
    },
    watchPlaces(eventId: string, onPlaces: (places: Places['rateAvailability']) => void) {
      const operation = { query: print(placesSubscription), variables: { eventId } }
      return events.subscribe<Places>(operation, {
        next: ({ data }) => data && onPlaces(data.rateAvailability),
        error: (error) => console.error('The places are not watched any more:', error),
        complete: () => {},
      })
    },
  }
}
