import { Client, fetchExchange, subscriptionExchange } from '@urql/core'
import { createClient } from 'graphql-sse'
import { createCache } from './cache.ts'
import {
  CheckoutDocument,
  type CheckoutInput,
  EventsDocument,
  PaymentDocument,
  PlacesDocument,
  type PlacesSubscription,
} from './generated/graphql.ts'

/** Connects with a publishable key, in a browser. */
export function connect({
  url,
  key,
  fetch = globalThis.fetch,
}: {
  url: string
  key: string
  fetch?: typeof globalThis.fetch
}) {
  const headers = { 'X-Api-Key': key }
  const stream = createClient({ url: `${url}/graphql`, headers, fetchFn: fetch })
  const client = new Client({
    url: `${url}/graphql`,
    fetch,
    fetchOptions: { headers },
    preferGetMethod: false,
    exchanges: [
      createCache(),
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables, operationName }) => ({
          subscribe: (sink) => ({
            unsubscribe: stream.subscribe(
              { query, variables: variables as Record<string, unknown>, operationName },
              sink as Parameters<typeof stream.subscribe>[1],
            ),
          }),
        }),
      }),
      fetchExchange,
    ],
  })

  return {
    client,
    async listEvents(search: string) {
      const { data } = await client.query(EventsDocument, { search }).toPromise()
      return data?.events?.nodes ?? []
    },
    async checkOut(input: CheckoutInput) {
      const { data } = await client.mutation(CheckoutDocument, { input }).toPromise()
      return data?.checkout
    },
    async readPayment({ url }: { url: string }) {
      // A payment changes without the cache being told.
      const { data } = await client
        .query(PaymentDocument, { url }, { requestPolicy: 'network-only' })
        .toPromise()
      return data?.paymentByUrl
    },
    watchPlaces(eventId: string, onPlaces: (places: PlacesSubscription['rateAvailability']) => void) {
      const places = client.subscription(PlacesDocument, { eventId })
      const { unsubscribe } = places.subscribe(({ data }) => data && onPlaces(data.rateAvailability))
      return unsubscribe
    },
  }
}
