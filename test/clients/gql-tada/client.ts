import type { ResultOf, TadaDocumentNode, VariablesOf } from 'gql.tada'
import { print } from 'graphql'
import { createClient } from 'graphql-sse'
import { patientFetch } from '../patient-fetch.ts'
import { graphql } from './graphql.ts'

const places = graphql(`
  fragment Places on TicketRate @_unmask { id status availability { available } }
`)

const rateFields = graphql(
  `
  fragment RateFields on TicketRate @_unmask {
    ...Places
    name
    currentPrice { id total { amount currency } }
  }
`,
  [places],
)

const eventsQuery = graphql(
  `
    query Events($search: String, $after: String) {
      events(first: 20, after: $after, filter: { search: $search }) {
        pageInfo { hasNextPage endCursor }
        nodes { id name ticketRates { ...RateFields } }
      }
    }
  `,
  [rateFields],
)

const checkoutMutation = graphql(
  `
    mutation Checkout($input: CheckoutInput!) {
      checkout(input: $input) {
        __typename
        ... on CheckoutPayload {
          payment { id pageUrl totalAmount { amount currency } }
          ticketRates { ...Places }
        }
        ... on Refused {
          errors {
            code message path
            ... on AvailabilityError { available ticketRate { ...Places } }
            ... on LimitError { min max }
          }
        }
      }
    }
  `,
  [places],
)

const paymentQuery = graphql(`query Payment($id: ID!) { payment(id: $id) { id status } }`)

const placesSubscription = graphql(
  `
    subscription Places($eventId: ID!) {
      ticketRates(of: { eventId: $eventId }) { ...Places }
    }
  `,
  [places],
)

type Places = ResultOf<typeof placesSubscription>

/** Connects with a channel's key, on a server. */
export function connect({ url, key }: { url: string; key: string }) {
  const headers = { 'X-Api-Key': key }
  const events = createClient({ url: `${url}/graphql`, headers })
  const send = patientFetch()

  async function execute<Data, Variables>(
    document: TadaDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const response = await send(`${url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: print(document), variables }),
    })
    const { data, errors } = await response.json()
    if (errors) throw new Error(errors[0].message, { cause: errors })
    return data
  }

  return {
    /** Turns the pages: each is asked for once its first event is needed. */
    async *listEvents(search: string) {
      for (let after: string | null | undefined = null; after !== undefined; ) {
        const { events }: ResultOf<typeof eventsQuery> = await execute(eventsQuery, { search, after })
        yield* events?.nodes ?? []
        after = events?.pageInfo.hasNextPage ? events.pageInfo.endCursor : undefined
      }
    },
    /** Repeated with the same key and input, it is the same checkout. */
    async checkOut(input: VariablesOf<typeof checkoutMutation>['input']) {
      const { checkout } = await execute(checkoutMutation, { input })
      return checkout
    },
    async readPayment({ id }: { id: string }) {
      const { payment } = await execute(paymentQuery, { id })
      return payment
    },
    watchPlaces(eventId: string, onPlaces: (places: Places['ticketRates']) => void) {
      const operation = { query: print(placesSubscription), variables: { eventId } }
      return events.subscribe<Places>(operation, {
        next: ({ data }) => data && onPlaces(data.ticketRates),
        error: (error) => console.error('The places are not watched any more:', error),
        complete: () => {},
      })
    },
  }
}
