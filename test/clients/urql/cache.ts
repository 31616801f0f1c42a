import { cacheExchange, type Entity, type KeyingConfig } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import introspection from './generated/introspection.ts'

// Types without an identity of their own: their values belong to the object around them.
export const keyless = [
  ...['Address', 'Amounts', 'Answer', 'Artist', 'Attendance', 'Attendee', 'Availability', 'BoxOfficeReceipt'],
  ...['CheckoutQuote', 'DiscountUses', 'IdentityDocument', 'Iframe', 'Money', 'PriceRange', 'QuestionOption'],
  ...['QuotedItem', 'QuotedTicket', 'SalesRow', 'Settlement', 'TicketSupplement', 'TicketWarranty', 'Viewer'],
  ...['Warranty', 'WebhookDelivery'],
]

/** Creates a normalized cache with the policies of the service. */
export const createCache = () =>
  cacheExchange({
    // Tells which types implement `RefusalError`.
    schema: introspection,
    keys: Object.fromEntries(keyless.map((name): [string, KeyingConfig[string]] => [name, () => null])),
    resolvers: {
      Query: {
        // Pages of one list are kept as one.
        events: relayPagination(),
        // An event that a list brought is read from the cache.
        event: (parent, args, cache) => {
          const { id } = args.by as { id?: string }
          return id ? { __typename: 'Event', id } : cache.resolve(parent as Entity, 'event', args)
        },
      },
    },
  })
