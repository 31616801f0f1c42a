import { limitProblems, type Problem, type ProblemWith, Refusal } from '../shared/errors.ts'
import { type Code, type FactName, type FactsByCode, facts, problemCodes } from '../shared/problem-codes.ts'
import { builder, enumOf } from './builder.ts'

// Refusals as data of GraphQL: every type of error, made of the codes and their facts.

const texts = Object.fromEntries(Object.entries(problemCodes).map(([code, { text }]) => [code, text]))

const ErrorCodeRef = enumOf<Code>(
  'ErrorCode',
  'Machine-readable error code, the same in GraphQL and REST.',
  texts as Record<Code, string>,
)

/** A `Refusal` as data, with all its problems. */
type Refused = { refused: Problem[] }

// Missing credentials or rights, and limits, are top-level errors; all other refusals are data (DECISIONS 6).
const isException = ({ code }: Problem) => ['UNAUTHENTICATED', 'FORBIDDEN', 'RATE_LIMITED'].includes(code)

/** Returns the result of a verb, or its refusal as data. Anything else it throws passes through. */
export async function catchRefusal<T>(result: () => Promise<T>): Promise<T | Refused> {
  try {
    return await result()
  } catch (error) {
    if (error instanceof Refusal && !error.problems.some(isException))
      return { refused: limitProblems(error.problems) }
    throw error
  }
}

/** A family of errors: their interface, and the type of each code that has one in it. */
type Family = ReturnType<typeof familyOf>

// A code for which the family has no type is an `InputError`.
function familyOf(name: string, description: string) {
  const types = new Map<Code, string>()
  const ref = builder.interfaceRef<Problem>(name).implement({
    description,
    resolveType: ({ code }) => types.get(code) ?? 'InputError',
    fields: (t) => ({
      code: t.expose('code', { type: ErrorCodeRef, description: 'Machine-readable error code.' }),
      message: t.exposeString('message', { description: 'Human-readable message.' }),
      path: t.string({
        nullable: true,
        description:
          'Path of the invalid input, such as `tickets.0.answers.1`; null if no single input is at fault.',
        resolve: ({ path }) => path?.join('.') ?? null,
      }),
    }),
  })
  return { ref, types }
}

/** Defines the type of a refused mutation, whose errors are of one family. */
const refusedRef = (name: string, description: string, { ref }: Family) =>
  builder.objectRef<Refused>(name).implement({
    description,
    fields: (t) => ({
      errors: t.expose('refused', { type: [ref], description: 'All reasons for the refusal.' }),
    }),
  })

const general = familyOf('RefusalError', 'Reason why a mutation was refused.')
const checkout = familyOf(
  'CheckoutError',
  'Reason why a checkout, a sale at the box office or invitations were refused.',
)

export const RefusedRef = refusedRef('Refused', 'Refused mutation. Nothing was changed.', general)
export const CheckoutRefusedRef = refusedRef(
  'CheckoutRefused',
  'Refused checkout, quote, sale at the box office or invitations. Nothing was sold and nothing is held.',
  checkout,
)

builder.objectType(builder.objectRef<Problem>('InputError'), {
  description: 'Refusal whose code carries no further facts.',
  interfaces: [checkout.ref, general.ref],
})

// Payments, tickets and refunds have statuses of different enums, so these are texts.
const shown = {
  count: ['Int', Number],
  amount: ['Float', Number],
  moment: ['DateTime', (value: unknown) => new Date(String(value))],
  status: ['String', (value: unknown) => String(value).toUpperCase()],
} as const

/** Descriptions of the facts that a type of errors shows. */
type Texts<C extends keyof FactsByCode> = Partial<Record<FactName<C>, string>>

/** Defines the type of errors with these codes, which show facts that each of them has, or that may be null. */
function errorType<C extends keyof FactsByCode>(
  name: string,
  families: Family[],
  codes: C[],
  { description, has, mayHave = {} }: { description: string; has?: Texts<C>; mayHave?: Texts<C> },
): void {
  for (const { types } of families) for (const code of codes) types.set(code, name)
  builder.objectType(builder.objectRef<ProblemWith<keyof FactsByCode>>(name), {
    description,
    interfaces: families.map(({ ref }) => ref),
    fields: (t) => {
      const field = ([fact, text]: [string, string]) => {
        const [type, show] = shown[facts[fact as FactName][0]]
        const resolve = ({ facts }: { facts: Partial<Record<string, unknown>> }) =>
          facts[fact] === undefined ? null : show(facts[fact])
        const options = { type: type as 'String', nullable: has === undefined, description: text }
        return [fact, t.field({ ...options, resolve: resolve as () => string })]
      }
      return Object.fromEntries(Object.entries<string>((has ?? mayHave) as Record<string, string>).map(field))
    },
  })
}

errorType('AvailabilityError', [checkout], ['SOLD_OUT', 'INSUFFICIENT_AVAILABILITY', 'DISCOUNT_USED_UP'], {
  description: 'Fewer places, or uses of a discount, are available than were requested.',
  has: { available: 'Number of places, or uses of a discount, available.' },
})
errorType('TicketCountError', [checkout], ['MIN_TICKETS', 'MAX_TICKETS'], {
  description: 'Number of tickets outside the limits of this rate.',
  mayHave: { min: 'Minimum per checkout.', max: 'Maximum per checkout.' },
})
errorType(
  'SaleTimeError',
  [checkout],
  ['NOT_ON_SALE_YET', 'SALE_ENDED', 'EVENT_STARTED', 'DISCOUNT_NOT_VALID'],
  {
    description: 'Ticket rate is not on sale, or discount is not valid, at this time.',
    mayHave: {
      validFrom: 'Time when the sale starts, if it has not started, or the discount becomes valid.',
      validUntil: 'Time when the sale ended, if it has, or the discount ends.',
      startDate: 'Time when the event started, if it has.',
    },
  },
)
errorType('UnderAgeError', [checkout, general], ['UNDER_AGE'], {
  description: 'Attendee is under the minimum age on the day the event starts.',
  mayHave: { minimumAge: 'Minimum age in years.' },
})
errorType('TotalIncreasedError', [checkout], ['TOTAL_INCREASED'], {
  description: 'Total is higher than `expectedTotal`.',
  mayHave: { totalAmount: 'Current total, in major units, such as 10.5 for €10.50.' },
})
errorType('SizeError', [checkout], ['METADATA_TOO_LARGE'], {
  description: 'Input field is too large.',
  mayHave: { limit: 'Maximum size in bytes.' },
})
errorType('BusyError', [checkout], ['BUSY'], {
  description: 'The service is busy. Retry after `retryAfter` seconds.',
  mayHave: { retryAfter: 'Seconds to wait before retrying.' },
})
errorType('TransitionError', [general], ['ILLEGAL_TRANSITION'], {
  description: 'Transition that the current status does not allow.',
  has: { from: 'Current status, such as `CANCELLED`.', to: 'Requested status, such as `REFUNDED`.' },
})
errorType('RefundError', [general], ['REFUND_TOO_HIGH'], {
  description: 'Refund that exceeds the amount still refundable.',
  has: { refundable: 'Amount still refundable, in major units, such as 10.5 for €10.50.' },
})
errorType('WarrantyError', [general], ['WARRANTY_ENDED'], {
  description: 'Refund after the end of the warranty.',
  mayHave: { validUntil: 'End of the warranty.' },
})
errorType('ResendLimitError', [general], ['TOO_MANY_RESENDS'], {
  description: 'The ticket was sent again or transferred too often within 24 hours.',
  has: {
    limit: 'Maximum number within 24 hours, resends and transfers together.',
    retryAfter: 'Seconds until the tickets can be sent again.',
  },
})
errorType('LimitError', [general], ['TOO_MANY_WEBHOOKS'], {
  description: 'The caller already has the maximum number of webhooks.',
  has: { limit: 'Maximum number allowed.' },
})
