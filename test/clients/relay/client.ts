import { createClient } from 'graphql-sse'
import {
  commitMutation,
  createOperationDescriptor,
  type Disposable,
  Environment,
  fetchQuery,
  getRequest,
  graphql,
  Network,
  Observable,
  RecordSource,
  requestSubscription,
  type Snapshot,
  Store,
} from 'relay-runtime'
import { patientFetch } from '../patient-fetch'
import type { CheckoutMutation, CheckoutMutation$variables } from './generated/CheckoutMutation.graphql'
import type { EventsQuery } from './generated/EventsQuery.graphql'
import type { PaymentQuery } from './generated/PaymentQuery.graphql'
import type { PlacesSubscription } from './generated/PlacesSubscription.graphql'

const eventsQuery = graphql`
  query EventsQuery($search: String, $after: String) {
    events(first: 20, after: $after, filter: { search: $search }) {
      pageInfo { hasNextPage endCursor }
      edges {
        node {
          id
          name
          ticketRates {
            id
            name
            status
            availability { available }
            currentPrice { id total { amount currency } }
          }
        }
      }
    }
  }
`

const checkoutMutation = graphql`
  mutation CheckoutMutation($input: CheckoutInput!) {
    checkout(input: $input) {
      __typename
      ... on CheckoutPayload {
        payment { id pageUrl totalAmount { amount currency } }
        ticketRates { id status availability { available } }
      }
      ... on Refused {
        errors {
          code
          message
          path
          ... on AvailabilityError { available ticketRate { id status availability { available } } }
          ... on LimitError { min max }
        }
      }
    }
  }
`

const paymentQuery = graphql`
  query PaymentQuery($url: String!) { paymentByUrl(url: $url) { id status } }
`

const placesSubscription = graphql`
  subscription PlacesSubscription($eventId: ID!) {
    ticketRates(of: { eventId: $eventId }) { id status availability { available } }
  }
`

type Places = PlacesSubscription['response']['ticketRates']
type Events = readonly NonNullable<EventsQuery['response']['events']>['edges'][number]['node'][]
type Options = { url: string; key: string; fetch?: typeof globalThis.fetch }

/** Connects with a publishable key, in a browser. The documents have identifiers in place of their texts. */
export function connect({ url, key, fetch = globalThis.fetch }: Options) {
  const headers = { 'X-Api-Key': key }
  const stream = createClient({ url: `${url}/graphql`, headers, fetchFn: fetch })
  const send = patientFetch(fetch)
  const environment = new Environment({
    store: new Store(new RecordSource()),
    network: Network.create(
      async ({ id }, variables) => {
        const response = await send(`${url}/graphql`, {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: JSON.stringify({ id, variables }),
        })
        return response.json()
      },
      ({ id }, variables) =>
        Observable.create((sink) =>
          stream.subscribe({ id, variables } as unknown as { query: string }, sink as never),
        ),
    ),
  })

  return {
    environment,
    /** Turns the pages: each is asked for once its first event is needed. */
    async *listEvents(search: string) {
      for (let after: string | null | undefined = null; after !== undefined; ) {
        const page = fetchQuery<EventsQuery>(environment, eventsQuery, { search, after })
        const data = (await page.toPromise()) as EventsQuery['response'] | undefined
        yield* data?.events?.edges.map(({ node }) => node) ?? []
        const { hasNextPage, endCursor } = data?.events?.pageInfo ?? {}
        after = hasNextPage ? endCursor : undefined
      }
    },
    /** Shows the first page, and again each time that something of it has changed. */
    watchEvents(search: string, onEvents: (events: Events) => void) {
      const operation = createOperationDescriptor(getRequest(eventsQuery), { search })
      const kept = environment.retain(operation)
      let watching: Disposable | undefined
      const show = ({ data }: Pick<Snapshot, 'data'>) => {
        const { events } = data as unknown as EventsQuery['response']
        if (events) onEvents(events.edges.map(({ node }) => node))
      }
      const fetching = fetchQuery<EventsQuery>(environment, eventsQuery, { search }).subscribe({
        complete() {
          const snapshot = environment.lookup(operation.fragment)
          watching = environment.subscribe(snapshot, show)
          show(snapshot)
        },
      })
      return () => {
        fetching.unsubscribe()
        watching?.dispose()
        kept.dispose()
      }
    },
    /** Repeated with the same key and input, it is the same checkout. */
    checkOut: (input: CheckoutMutation$variables['input']) =>
      new Promise<CheckoutMutation['response']['checkout']>((resolve, reject) => {
        commitMutation<CheckoutMutation>(environment, {
          mutation: checkoutMutation,
          variables: { input },
          onCompleted: ({ checkout }) => resolve(checkout),
          onError: reject,
        })
      }),
    async readPayment({ url }: { url: string }) {
      const data = await fetchQuery<PaymentQuery>(environment, paymentQuery, { url }).toPromise()
      return data?.paymentByUrl
    },
    watchPlaces(eventId: string, onPlaces: (places: Places) => void) {
      const { dispose } = requestSubscription<PlacesSubscription>(environment, {
        subscription: placesSubscription,
        variables: { eventId },
        onNext: (data) => data && onPlaces(data.ticketRates),
      })
      return dispose
    },
  }
}
