import { InMemoryCache, type TypePolicy } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import possibleTypes from './generated/possible-types.ts'

// Types without an identity of their own: their values belong to the object around them.
export const keyless = [
  ...['Address', 'Amounts', 'Answer', 'Artist', 'Attendance', 'Attendee', 'Availability', 'BoxOfficeReceipt'],
  ...['CheckoutQuote', 'DiscountUses', 'IdentityDocument', 'Iframe', 'Money', 'PriceRange', 'QuestionOption'],
  ...['QuotedItem', 'QuotedTicket', 'SalesRow', 'Settlement', 'TicketSupplement', 'TicketWarranty', 'Viewer'],
  ...['Warranty', 'WebhookDelivery'],
]

/** Creates a cache with the policies of the service. */
export const createCache = () =>
  new InMemoryCache({
    // Without them `... on LimitError` matches nothing.
    possibleTypes: possibleTypes.possibleTypes,
    typePolicies: {
      ...Object.fromEntries(keyless.map((name): [string, TypePolicy] => [name, { keyFields: false }])),
      Query: {
        fields: {
          // Pages of one list are kept as one; lists with other arguments by themselves.
          events: relayStylePagination(['filter', 'orderBy']),
          // An event that a list brought is read from the cache.
          event: (existing, { args, toReference }) =>
            existing ?? (args?.by.id ? toReference({ __typename: 'Event', id: args.by.id }) : undefined),
        },
      },
    },
  })
