import { ApolloClient, ApolloLink, HttpLink, Observable } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { OperationTypeNode, print } from 'graphql'
import { createClient } from 'graphql-sse'
import { patientFetch } from '../patient-fetch.ts'
import { createCache } from './cache.ts'
import {
  CheckoutDocument,
  type CheckoutInput,
  EventsDocument,
  type EventsQuery,
  type EventsQueryVariables,
  PaymentDocument,
  PlacesDocument,
  type PlacesSubscription,
} from './generated/graphql.ts'

const toHex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
const sha256 = async (text: string) =>
  toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))

type Event = NonNullable<EventsQuery['events']>['edges'][number]['node']

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
  const uri = `${url}/graphql`
  const headers = { 'X-Api-Key': key }
  const stream = createClient({ url: uri, headers, fetchFn: fetch })

  const streamLink = new ApolloLink(
    ({ query, variables, operationName }) =>
      new Observable((observer) =>
        stream.subscribe(
          { query: print(query), variables, operationName },
          {
            next: (result) => observer.next(result as ApolloLink.Result),
            error: (error) => observer.error(error),
            complete: () => observer.complete(),
          },
        ),
      ),
  )
  const client = new ApolloClient({
    cache: createCache(),
    link: ApolloLink.split(
      ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
      streamLink,
      ApolloLink.from([
        new PersistedQueryLink({ sha256 }),
        new HttpLink({ uri, headers, fetch: patientFetch(fetch) }),
      ]),
    ),
  })

  return {
    client,
    /** Turns the pages: each is asked for once its first event is needed. */
    async *listEvents(search: string) {
      let after: string | null | undefined = null
      for (let seen = 0; after !== undefined; ) {
        const variables: EventsQueryVariables = { search, after }
        const { data } = await client.query({
          query: EventsDocument,
          variables,
          fetchPolicy: 'network-only',
        })
        // The cache joins the pages: each answer holds those before it as well.
        const { edges = [], pageInfo } = data?.events ?? {}
        yield* edges.slice(seen).map(({ node }) => node)
        seen = edges.length
        after = pageInfo?.hasNextPage ? pageInfo.endCursor : undefined
      }
    },
    /** Shows the first page, and again each time that something of it has changed. */
    watchEvents(search: string, onEvents: (events: Event[]) => void) {
      const list = client.watchQuery({ query: EventsDocument, variables: { search } })
      const subscription = list.subscribe(({ data, dataState }) => {
        if (dataState === 'complete') onEvents(data.events?.edges.map(({ node }) => node) ?? [])
      })
      return () => subscription.unsubscribe()
    },
    /** Repeated with the same key and input, it is the same checkout. */
    async checkOut(input: CheckoutInput) {
      const { data } = await client.mutate({ mutation: CheckoutDocument, variables: { input } })
      return data?.checkout
    },
    async readPayment({ url }: { url: string }) {
      // A payment changes without the cache being told.
      const { data } = await client.query({
        query: PaymentDocument,
        variables: { url },
        fetchPolicy: 'network-only',
      })
      return data?.paymentByUrl
    },
    watchPlaces(eventId: string, onPlaces: (places: PlacesSubscription['ticketRates']) => void) {
      const places = client.subscribe({ query: PlacesDocument, variables: { eventId } })
      const subscription = places.subscribe(({ data }) => data && onPlaces(data.ticketRates))
      return () => subscription.unsubscribe()
    },
  }
}
