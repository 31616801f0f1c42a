import { Client, fetchExchange, type OperationResult, subscriptionExchange } from '@urql/core'
import { createClient } from 'graphql-sse'
import { patientFetch } from '../patient-fetch.ts'
import { createCache } from './cache.ts'
import {
  CheckoutDocument,
  type CheckoutInput,
  EventsDocument,
  type EventsQuery,
  PaymentDocument,
  PlacesDocument,
  type PlacesSubscription,
} from './generated/graphql.ts'

/** Returns the data of a result; throws its error, which urql returns. */
function dataOf<Data>({ data, error }: Pick<OperationResult<Data>, 'data' | 'error'>): Data | undefined {
  if (error) throw error
  return data
}

type Event = NonNullable<EventsQuery['events']>['nodes'][number]

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
    fetch: patientFetch(fetch),
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
    /** Turns the pages: each is asked for once its first event is needed. */
    async *listEvents(search: string) {
      let after: string | null | undefined = null
      for (let seen = 0; after !== undefined; ) {
        const result = client.query(EventsDocument, { search, after }, { requestPolicy: 'network-only' })
        const page = dataOf(await result.toPromise()) as EventsQuery | undefined
        // The cache joins the pages: each answer holds those before it as well.
        const { nodes = [], pageInfo } = page?.events ?? {}
        yield* nodes.slice(seen)
        seen = nodes.length
        after = pageInfo?.hasNextPage ? pageInfo.endCursor : undefined
      }
    },
    /** Shows the first page, and again each time that something of it has changed. */
    watchEvents(search: string, onEvents: (events: Event[]) => void) {
      const list = client.query(EventsDocument, { search })
      const { unsubscribe } = list.subscribe(({ data }) => data && onEvents(data.events?.nodes ?? []))
      return unsubscribe
    },
    /** Repeated with the same key and input, it is the same checkout. */
    async checkOut(input: CheckoutInput) {
      return dataOf(await client.mutation(CheckoutDocument, { input }).toPromise())?.checkout
    },
    async readPayment({ url }: { url: string }) {
      // A payment changes without the cache being told.
      const result = await client
        .query(PaymentDocument, { url }, { requestPolicy: 'network-only' })
        .toPromise()
      return dataOf(result)?.paymentByUrl
    },
    watchPlaces(eventId: string, onPlaces: (places: PlacesSubscription['ticketRates']) => void) {
      const places = client.subscription(PlacesDocument, { eventId })
      const { unsubscribe } = places.subscribe(({ data }) => data && onPlaces(data.ticketRates))
      return unsubscribe
    },
  }
}
