import { builder } from '../../../graphql/builder.ts'
import { problemRef, RefusalErrorRef, refusedRef } from '../../../graphql/mutation-result.ts'
import type { Problem, ProblemWith } from '../../../shared/errors.ts'

const CheckoutErrorRef = problemRef('CheckoutError', 'Reason why a checkout was refused.', {
  SOLD_OUT: 'AvailabilityError',
  INSUFFICIENT_AVAILABILITY: 'AvailabilityError',
  DISCOUNT_USED_UP: 'AvailabilityError',
  DISCOUNT_NOT_VALID: 'SaleTimeError',
  MIN_TICKETS: 'TicketCountError',
  MAX_TICKETS: 'TicketCountError',
  NOT_ON_SALE_YET: 'SaleTimeError',
  SALE_ENDED: 'SaleTimeError',
  EVENT_STARTED: 'SaleTimeError',
  UNDER_AGE: 'UnderAgeError',
  TOTAL_INCREASED: 'TotalIncreasedError',
  METADATA_TOO_LARGE: 'SizeError',
  BUSY: 'BusyError',
})

builder.objectType(builder.objectRef<Problem>('InputError'), {
  description: 'Refusal whose code carries no further facts.',
  interfaces: [CheckoutErrorRef, RefusalErrorRef],
})

builder.objectType(
  builder.objectRef<ProblemWith<'SOLD_OUT' | 'INSUFFICIENT_AVAILABILITY' | 'DISCOUNT_USED_UP'>>(
    'AvailabilityError',
  ),
  {
    description: 'Fewer places, or uses of a discount, are available than were requested.',
    interfaces: [CheckoutErrorRef],
    fields: (t) => ({
      available: t.int({
        description: 'Number of places, or uses of a discount, available.',
        resolve: ({ facts }) => facts.available,
      }),
    }),
  },
)

builder.objectType(builder.objectRef<ProblemWith<'MIN_TICKETS' | 'MAX_TICKETS'>>('TicketCountError'), {
  description: 'Number of tickets outside the limits of this rate.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    min: t.int({ nullable: true, description: 'Minimum per checkout.', resolve: ({ facts }) => facts.min }),
    max: t.int({ nullable: true, description: 'Maximum per checkout.', resolve: ({ facts }) => facts.max }),
  }),
})

type SaleTimeProblem = ProblemWith<'NOT_ON_SALE_YET' | 'SALE_ENDED' | 'EVENT_STARTED' | 'DISCOUNT_NOT_VALID'>

const toDate = (iso: string | undefined) => (iso === undefined ? null : new Date(iso))

builder.objectType(builder.objectRef<SaleTimeProblem>('SaleTimeError'), {
  description: 'Ticket rate is not on sale, or discount is not valid, at this time.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    validFrom: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the sale starts, if it has not started, or the discount becomes valid.',
      resolve: ({ facts }) => toDate('validFrom' in facts ? facts.validFrom : undefined),
    }),
    validUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the sale ended, if it has, or the discount ends.',
      resolve: ({ facts }) => toDate('validUntil' in facts ? facts.validUntil : undefined),
    }),
    startDate: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Time when the event started, if it has.',
      resolve: ({ facts }) => toDate('startDate' in facts ? facts.startDate : undefined),
    }),
  }),
})

builder.objectType(builder.objectRef<ProblemWith<'UNDER_AGE'>>('UnderAgeError'), {
  description: 'Attendee is under the minimum age on the day the event starts.',
  interfaces: [CheckoutErrorRef, RefusalErrorRef],
  fields: (t) => ({
    minimumAge: t.int({
      nullable: true,
      description: 'Minimum age in years.',
      resolve: ({ facts }) => facts.minimumAge,
    }),
  }),
})

builder.objectType(builder.objectRef<ProblemWith<'TOTAL_INCREASED'>>('TotalIncreasedError'), {
  description: 'Total is higher than `expectedTotal`.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    totalAmount: t.float({
      nullable: true,
      description: 'Current total, in major units, such as 10.5 for €10.50.',
      resolve: ({ facts }) => facts.totalAmount,
    }),
  }),
})

builder.objectType(builder.objectRef<ProblemWith<'METADATA_TOO_LARGE'>>('SizeError'), {
  description: 'Input field is too large.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    limit: t.int({
      nullable: true,
      description: 'Maximum size in bytes.',
      resolve: ({ facts }) => facts.limit,
    }),
  }),
})

builder.objectType(builder.objectRef<ProblemWith<'BUSY'>>('BusyError'), {
  description: 'The service is busy. Retry after `retryAfter` seconds.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    retryAfter: t.int({
      nullable: true,
      description: 'Seconds to wait before retrying.',
      resolve: ({ facts }) => facts.retryAfter,
    }),
  }),
})

export const CheckoutRefusedRef = refusedRef(
  'CheckoutRefused',
  'Refused checkout or quote. Nothing was sold and nothing is held.',
  CheckoutErrorRef,
)
