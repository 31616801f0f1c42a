import type { ObjectFieldsShape } from '@pothos/core'
import type { Problem } from '../../engine/base/errors.ts'
import type { Money } from '../../engine/base/money.ts'
import {
  builder,
  enumOf,
  MoneyRef,
  nullable,
  nullableTime,
  type Types,
} from '../../engine/graphql/builder.ts'
import { errorTypes, RefusalErrorRef, RefusedRef } from '../../engine/graphql/problems.ts'
import { type Code, problemCodes } from './problem-codes.ts'

// Refusals as data of GraphQL: one type of refusal, whose errors have a code, and the facts of that code.

// Codes of a request as a whole, or of a query: they are top-level errors, and never data.
const topLevelCodes = [
  ...['PERSISTED_QUERY_NOT_FOUND', 'BAD_REQUEST', 'QUERY_TOO_COMPLEX', 'UNAUTHENTICATED', 'FORBIDDEN'],
  ...['UNTRUSTED_DOCUMENT', 'ORIGIN_NOT_ALLOWED', 'METHOD_NOT_ALLOWED', 'NOT_ACCEPTABLE', 'BODY_TOO_LARGE'],
  ...['UNSUPPORTED_MEDIA_TYPE', 'CURSOR_UNKNOWN', 'RATE_LIMITED', 'INTERNAL'],
] as const satisfies Code[]

type RefusalCode = Exclude<Code, (typeof topLevelCodes)[number]>

const isRefusalCode = (code: Code): code is RefusalCode => !(topLevelCodes as readonly Code[]).includes(code)

for (const code of Object.keys(problemCodes))
  if (isRefusalCode(code as Code)) errorTypes.set(code, 'OtherError')

const texts = Object.entries(problemCodes).flatMap(([code, { text }]) =>
  isRefusalCode(code as Code) ? [[code, text]] : [],
)

const RefusalCodeRef = enumOf<RefusalCode>(
  'RefusalCode',
  'Reason why a mutation or a quote was refused. Values may be added: treat an unknown one as a refusal whose `message` says why.',
  Object.fromEntries(texts) as Record<RefusalCode, string>,
)

RefusalErrorRef.implement({
  description:
    'One reason for a refusal. Decide by `code`, and never by the type, which tells what facts there are beside it: a code may get a type of its own.',
  resolveType: ({ code }) => errorTypes.get(code),
  fields: (t) => ({
    code: t.field({
      type: RefusalCodeRef,
      description: 'Machine-readable code.',
      resolve: ({ code }) => code as RefusalCode,
    }),
    message: t.exposeString('message', { description: 'Human-readable message.' }),
    path: t.string({
      nullable: true,
      description:
        'Path of the invalid input, such as `items.0.tickets.0.attendee.email`; null if no single input is at fault.',
      resolve: ({ path }) => path?.join('.') ?? null,
    }),
  }),
})

RefusedRef.implement({
  description: 'Refusal: nothing was changed, sold or held.',
  fields: (t) => ({
    errors: t.expose('refused', { type: [RefusalErrorRef], description: 'All reasons for it, at most 100.' }),
  }),
})

builder.objectType(builder.objectRef<Problem>('OtherError'), {
  description: 'Error whose code has no further facts.',
  interfaces: [RefusalErrorRef],
})

/** Defines the type of errors with these codes. */
function errorOf(
  name: string,
  codes: RefusalCode[],
  description: string,
  fields?: ObjectFieldsShape<Types, Problem>,
) {
  for (const code of codes) errorTypes.set(code, name)
  return builder.objectRef<Problem>(name).implement({ description, interfaces: [RefusalErrorRef], fields })
}

// A fact that one of these names has.
const fact =
  <Value>(...names: string[]) =>
  ({ facts = {} }: Problem): Value =>
    names.map((name) => facts[name]).find((value) => value !== undefined) as Value

const moment =
  (...names: string[]) =>
  (problem: Problem): Date | null => {
    const text = fact<string | undefined>(...names)(problem)
    return text === undefined ? null : new Date(text)
  }

export const AvailabilityErrorRef = errorOf(
  'AvailabilityError',
  ['SOLD_OUT', 'INSUFFICIENT_AVAILABILITY', 'DISCOUNT_USED_UP'],
  'Fewer places, or uses of a discount, are left than were asked for.',
  (t) => ({
    available: t.int({
      description: 'Number of places, or of uses of a discount, that are left.',
      resolve: fact<number>('available'),
    }),
  }),
)

errorOf('BusyError', ['BUSY'], 'The service is busy.', (t) => ({
  // Nullable like that of `LimitError`, so that one selection may name both. The same holds for `endedAt`.
  retryAfter: t.int({
    ...nullable('Seconds after which to send the same request again.'),
    resolve: fact<number>('retryAfter'),
  }),
}))

errorOf(
  'SaleTimeError',
  ['NOT_ON_SALE_YET', 'SALE_ENDED', 'EVENT_STARTED', 'DISCOUNT_NOT_VALID'],
  'The ticket rate is not on sale, or the discount not valid, at this time.',
  (t) => ({
    startsAt: t.field({
      ...nullableTime('Start of the sale, or of the validity; null if it has started.'),
      resolve: moment('validFrom'),
    }),
    endedAt: t.field({
      ...nullableTime('End of the sale, which is the start of the event at the latest, or of the validity.'),
      resolve: moment('validUntil', 'startDate'),
    }),
  }),
)

errorOf(
  'LimitError',
  ['TOO_FEW_TICKETS', 'TOO_MANY_TICKETS', 'METADATA_TOO_LARGE', 'TOO_MANY_WEBHOOKS', 'TOO_MANY_RESENDS'],
  'A number of tickets, webhooks, bytes or repeated mails is out of its limits.',
  (t) => ({
    min: t.int({ ...nullable('Minimum; null if there is none.'), resolve: fact<number | null>('min') }),
    max: t.int({ description: 'Maximum.', resolve: fact<number>('max', 'limit') }),
    retryAfter: t.int({
      ...nullable('Seconds after which the same request is within the limit; null if time changes nothing.'),
      resolve: fact<number | null>('retryAfter'),
    }),
  }),
)

errorOf(
  'UnderAgeError',
  ['UNDER_AGE'],
  'The attendee is under the minimum age on the day on which the event starts.',
  (t) => ({
    minimumAge: t.int({ description: 'Minimum age in years.', resolve: fact<number>('minimumAge') }),
  }),
)

errorOf(
  'AmountError',
  ['TOTAL_INCREASED', 'TOTAL_TOO_LOW', 'REFUND_TOO_HIGH'],
  'An amount is too high or too low.',
  (t) => ({
    amount: t.field({
      type: MoneyRef,
      description:
        'Current total, least amount that the payment provider charges, or amount that can still be refunded.',
      resolve: fact<Money>('totalAmount', 'leastAmount', 'refundable'),
    }),
  }),
)

export const TransitionErrorRef = errorOf(
  'TransitionError',
  ['ILLEGAL_TRANSITION'],
  'The current status of the ticket or the payment does not allow the request.',
)

errorOf('WarrantyError', ['WARRANTY_ENDED'], 'The warranty of the ticket has ended.', (t) => ({
  endedAt: t.field({ ...nullableTime('Time at which it ended.'), resolve: moment('validUntil') }),
}))
