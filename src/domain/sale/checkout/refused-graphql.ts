import { builder } from '../../../graphql/builder.ts'
import { errorType, problemRef, RefusalErrorRef, refusedRef } from '../../../graphql/mutation-result.ts'
import type { Problem } from '../../../shared/errors.ts'

const CheckoutErrorRef = problemRef(
  'CheckoutError',
  'Reason why a checkout, a sale at the box office or invitations were refused.',
)

builder.objectType(builder.objectRef<Problem>('InputError'), {
  description: 'Refusal whose code carries no further facts.',
  interfaces: [CheckoutErrorRef, RefusalErrorRef],
})

errorType(
  'AvailabilityError',
  ['SOLD_OUT', 'INSUFFICIENT_AVAILABILITY', 'DISCOUNT_USED_UP'],
  [CheckoutErrorRef],
  'Fewer places, or uses of a discount, are available than were requested.',
  { available: 'Number of places, or uses of a discount, available.' },
)
errorType(
  'TicketCountError',
  ['MIN_TICKETS', 'MAX_TICKETS'],
  [CheckoutErrorRef],
  'Number of tickets outside the limits of this rate.',
  { min: 'Minimum per checkout.', max: 'Maximum per checkout.' },
  { nullable: true },
)
errorType(
  'SaleTimeError',
  ['NOT_ON_SALE_YET', 'SALE_ENDED', 'EVENT_STARTED', 'DISCOUNT_NOT_VALID'],
  [CheckoutErrorRef],
  'Ticket rate is not on sale, or discount is not valid, at this time.',
  {
    validFrom: 'Time when the sale starts, if it has not started, or the discount becomes valid.',
    validUntil: 'Time when the sale ended, if it has, or the discount ends.',
    startDate: 'Time when the event started, if it has.',
  },
  { nullable: true },
)
errorType(
  'UnderAgeError',
  ['UNDER_AGE'],
  [CheckoutErrorRef, RefusalErrorRef],
  'Attendee is under the minimum age on the day the event starts.',
  { minimumAge: 'Minimum age in years.' },
  { nullable: true },
)
errorType(
  'TotalIncreasedError',
  ['TOTAL_INCREASED'],
  [CheckoutErrorRef],
  'Total is higher than `expectedTotal`.',
  { totalAmount: 'Current total, in major units, such as 10.5 for €10.50.' },
  { nullable: true },
)
errorType(
  'SizeError',
  ['METADATA_TOO_LARGE'],
  [CheckoutErrorRef],
  'Input field is too large.',
  { limit: 'Maximum size in bytes.' },
  { nullable: true },
)
errorType(
  'BusyError',
  ['BUSY'],
  [CheckoutErrorRef],
  'The service is busy. Retry after `retryAfter` seconds.',
  { retryAfter: 'Seconds to wait before retrying.' },
  { nullable: true },
)

export const CheckoutRefusedRef = refusedRef(
  'CheckoutRefused',
  'Refused checkout, quote, sale at the box office or invitations. Nothing was sold and nothing is held.',
  CheckoutErrorRef,
)
