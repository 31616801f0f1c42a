import { cacheExchange, type Entity, type KeyingConfig } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import introspection from './generated/introspection.ts'

// Types without an identity of their own: their values belong to the object around them.
export const keyless = [
  ...['Answer', 'Artist', 'Availability', 'CheckIn', 'CheckoutQuote', 'DiscountUses', 'FeedChange', 'Fees'],
  ...['Iframe', 'PriceInfo', 'QuotedTicket', 'RateAvailability', 'RateWarranty', 'Redemption', 'Refund'],
  ...['SalesRow', 'TicketSupplement', 'TicketWarranty', 'Viewer', 'WebhookDelivery'],
]

/** Creates a normalized cache with the policies of the service. */
export const createCache = () =>
  cacheExchange({
    // Tells which types implement `CheckoutError`.
    schema: introspection,
    keys: Object.fromEntries(keyless.map((name): [string, KeyingConfig[string]] => [name, () => null])),
    resolvers: {
      Query: {
        // Pages of one list are kept as one.
        events: relayPagination(),
        // An event that a list brought is read from the cache.
        event: (parent, args, cache) =>
          args.id
            ? { __typename: 'Event', id: String(args.id) }
            : cache.resolve(parent as Entity, 'event', args),
      },
    },
    updates: {
      Mutation: {
        // A checkout takes places: lists of events are fetched again.
        checkout: (_result, _args, cache) => cache.invalidate('Query', 'events'),
      },
    },
  })
