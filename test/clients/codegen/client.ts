import { createClient } from 'graphql-sse'
import { patientFetch } from '../patient-fetch.ts'
import {
  CheckoutDocument,
  type CheckoutInput,
  EventsDocument,
  type EventsQuery,
  PaymentDocument,
  PlacesDocument,
  type PlacesSubscription,
  type TypedDocumentString,
} from './generated/graphql.ts'

/** Connects with a channel's key, on a server. `trusted` sends hashes in place of documents. */
export function connect({ url, key, trusted = false }: { url: string; key: string; trusted?: boolean }) {
  const headers = { 'X-Api-Key': key }
  const events = createClient({ url: `${url}/graphql`, headers })
  const send = patientFetch()

  const requestOf = <Data, Variables>(
    document: TypedDocumentString<Data, Variables>,
    variables: Variables,
  ) => {
    if (!trusted) return { query: document.toString(), variables }
    return { extensions: { persistedQuery: { version: 1, sha256Hash: document.__meta__?.hash } }, variables }
  }

  async function execute<Data, Variables>(
    document: TypedDocumentString<Data, Variables>,
    variables: Variables,
  ): Promise<Data> {
    const response = await send(`${url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(requestOf(document, variables)),
    })
    const { data, errors } = await response.json()
    if (errors) throw new Error(errors[0].message, { cause: errors })
    return data
  }

  return {
    /** Turns the pages: each is asked for once its first event is needed. */
    async *listEvents(search: string) {
      for (let after: string | null | undefined = null; after !== undefined; ) {
        const { events }: EventsQuery = await execute(EventsDocument, { search, after })
        yield* events?.nodes ?? []
        after = events?.pageInfo.hasNextPage ? events.pageInfo.endCursor : undefined
      }
    },
    /** Repeated with the same key and input, it is the same checkout. */
    async checkOut(input: CheckoutInput) {
      const { checkout } = await execute(CheckoutDocument, { input })
      return checkout
    },
    async readPayment({ id }: { id: string }) {
      const { payment } = await execute(PaymentDocument, { id })
      return payment
    },
    watchPlaces(eventId: string, onPlaces: (places: PlacesSubscription['ticketRates']) => void) {
      const request = requestOf(PlacesDocument, { eventId }) as { query: string }
      return events.subscribe<PlacesSubscription>(request, {
        next: ({ data }) => data && onPlaces(data.ticketRates),
        error: (error) => console.error('The places are not watched any more:', error),
        complete: () => {},
      })
    },
  }
}
