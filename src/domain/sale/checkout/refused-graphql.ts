import { builder } from '../../../graphql/builder.ts'
import { problemRef, RefusalErrorRef, type Refused } from '../../../graphql/mutation-result.ts'
import type { Problem } from '../../../shared/errors.ts'

const CheckoutErrorRef = problemRef('CheckoutError', 'Why a checkout was refused.', {
  SOLD_OUT: 'AvailabilityError',
  INSUFFICIENT_AVAILABILITY: 'AvailabilityError',
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

const moment = (iso: string | undefined) => (iso === undefined ? null : new Date(iso))

builder.objectType(builder.objectRef<Problem>('InputError'), {
  description: 'Something in the input is not as it must be.',
  interfaces: [CheckoutErrorRef, RefusalErrorRef],
})

builder.objectType(builder.objectRef<Problem>('AvailabilityError'), {
  description: 'There are fewer places left than were asked for.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    available: t.int({ description: 'What is left.', resolve: ({ facts }) => facts?.available ?? 0 }),
  }),
})

builder.objectType(builder.objectRef<Problem>('TicketCountError'), {
  description: 'Fewer or more tickets than a checkout of this rate takes.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    min: t.int({ nullable: true, description: 'The fewest.', resolve: ({ facts }) => facts?.min }),
    max: t.int({ nullable: true, description: 'The most.', resolve: ({ facts }) => facts?.max }),
  }),
})

builder.objectType(builder.objectRef<Problem>('SaleTimeError'), {
  description: 'The rate is not on sale now.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    validFrom: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Since when it will be.',
      resolve: ({ facts }) => moment(facts?.validFrom),
    }),
    validUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when it was.',
      resolve: ({ facts }) => moment(facts?.validUntil),
    }),
    startDate: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the event began.',
      resolve: ({ facts }) => moment(facts?.startDate),
    }),
  }),
})

builder.objectType(builder.objectRef<Problem>('UnderAgeError'), {
  description: 'The attendee is too young on the day that the event starts.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    minimumAge: t.int({ nullable: true, description: 'Years.', resolve: ({ facts }) => facts?.minimumAge }),
  }),
})

builder.objectType(builder.objectRef<Problem>('TotalIncreasedError'), {
  description: 'The total is dearer than was expected.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    totalAmount: t.float({
      nullable: true,
      description: 'What it is now, in major units.',
      resolve: ({ facts }) => facts?.totalAmount,
    }),
  }),
})

builder.objectType(builder.objectRef<Problem>('SizeError'), {
  description: 'Something in the input is too large.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    limit: t.int({ nullable: true, description: 'The most bytes.', resolve: ({ facts }) => facts?.limit }),
  }),
})

builder.objectType(builder.objectRef<Problem>('BusyError'), {
  description: 'Too many checkouts at once.',
  interfaces: [CheckoutErrorRef],
  fields: (t) => ({
    retryAfter: t.int({
      nullable: true,
      description: 'Seconds to wait.',
      resolve: ({ facts }) => facts?.retryAfter,
    }),
  }),
})

export const CheckoutRefusedRef = builder.objectRef<Refused>('CheckoutRefused').implement({
  description: 'Nothing was sold and nothing is held.',
  fields: (t) => ({
    errors: t.field({
      type: [CheckoutErrorRef],
      description: 'Everything that stands against it.',
      resolve: ({ refused }) => refused,
    }),
  }),
})
