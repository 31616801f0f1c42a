import { InMemoryCache, type TypePolicy } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import possibleTypes from './generated/possible-types.ts'

// Types without an identity of their own: their values belong to the object around them.
export const keyless = [
  ...['Answer', 'Artist', 'Availability', 'CheckIn', 'CheckoutQuote', 'DiscountUses', 'FeedChange', 'Fees'],
  ...['Iframe', 'PriceInfo', 'QuotedTicket', 'RateAvailability', 'RateWarranty', 'Redemption', 'Refund'],
  ...['SalesRow', 'TicketSupplement', 'TicketWarranty', 'Viewer', 'WebhookDelivery'],
]

/** Creates a cache with the policies of the service. */
export const createCache = () =>
  new InMemoryCache({
    // Without them `... on TicketCountError` matches nothing.
    possibleTypes: possibleTypes.possibleTypes,
    typePolicies: {
      ...Object.fromEntries(keyless.map((name): [string, TypePolicy] => [name, { keyFields: false }])),
      // The places left are newer than what the cache has, and replace it.
      TicketRate: { fields: { availability: { merge: true } } },
      Query: {
        fields: {
          // Pages of one list are kept as one; lists with other arguments by themselves.
          events: relayStylePagination(['search', 'city', 'organizationId', 'orderBy']),
          // An event that a list brought is read from the cache.
          event: (existing, { args, toReference }) =>
            existing ?? (args?.id ? toReference({ __typename: 'Event', id: args.id }) : undefined),
        },
      },
    },
  })
