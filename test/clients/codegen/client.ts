import { createClient } from 'graphql-sse'
import {
  CheckoutDocument,
  type CheckoutInput,
  EventsDocument,
  PaymentDocument,
  PlacesDocument,
  type PlacesSubscription,
  type TypedDocumentString,
} from './generated/graphql.ts'

/** Connects with a channel's key, on a server. `trusted` sends hashes in place of documents. */
export function connect({ url, key, trusted = false }: { url: string; key: string; trusted?: boolean }) {
  const headers = { 'X-Api-Key': key }
  const events = createClient({ url: `${url}/graphql`, headers })

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
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(requestOf(document, variables)),
    })
    const { data, errors } = await response.json()
    if (errors) throw new Error(errors[0].message, { cause: errors })
    return data
  }

  return {
    async listEvents(search: string) {
      const { events } = await execute(EventsDocument, { search })
      return events?.nodes ?? []
    },
    async checkOut(input: CheckoutInput) {
      const { checkout } = await execute(CheckoutDocument, { input })
      return checkout
    },
    async readPayment({ id }: { id: string }) {
      const { payment } = await execute(PaymentDocument, { id })
      return payment
    },
    watchPlaces(eventId: string, onPlaces: (places: PlacesSubscription['rateAvailability']) => void) {
      const request = requestOf(PlacesDocument, { eventId }) as { query: string }
      return events.subscribe<PlacesSubscription>(request, {
        next: ({ data }) => data && onPlaces(data.rateAvailability),
        error: (error) => console.error('The places are not watched any more:', error),
        complete: () => {},
      })
    },
  }
}
