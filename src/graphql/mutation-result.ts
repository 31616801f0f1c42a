import type { ObjectRef } from '@pothos/core'
import { errorDescriptions } from '../shared/error-descriptions.ts'
import { type Code, limitProblems, type Problem, type ProblemWith, Refusal } from '../shared/errors.ts'
import { builder, type DescribedValues } from './builder.ts'

const values = Object.fromEntries(
  Object.entries(errorDescriptions).map(([value, description]) => [value, { value, description }]),
) as DescribedValues<Code>

export const ErrorCodeRef = builder.enumType('ErrorCode', {
  description: 'Machine-readable error code, the same in GraphQL and REST.',
  values,
})

type Types = typeof builder.$inferSchemaTypes

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

/** Defines the interface of a family of errors. `typeOf` maps a code to the type that carries its facts; a
 *  code without facts is an `InputError`. */
export const problemRef = (name: string, description: string, typeOf: Partial<Record<Code, string>>) =>
  builder.interfaceRef<Problem>(name).implement({
    description,
    resolveType: ({ code }) => typeOf[code] ?? 'InputError',
    fields: (t) => ({
      code: t.field({
        type: ErrorCodeRef,
        description: 'Machine-readable error code.',
        resolve: ({ code }) => code,
      }),
      message: t.exposeString('message', { description: 'Human-readable message.' }),
      path: t.string({
        nullable: true,
        description:
          'Path of the invalid input, such as `tickets.0.answers.1`; null if no single input is at fault.',
        resolve: ({ path }) => path?.join('.') ?? null,
      }),
    }),
  })

export const RefusalErrorRef = problemRef('RefusalError', 'Reason why a mutation was refused.', {
  ILLEGAL_TRANSITION: 'TransitionError',
  REFUND_TOO_HIGH: 'RefundError',
  WARRANTY_ENDED: 'WarrantyError',
  TOO_MANY_WEBHOOKS: 'LimitError',
  TOO_MANY_RESENDS: 'ResendLimitError',
  UNDER_AGE: 'UnderAgeError',
})

builder.objectType(builder.objectRef<ProblemWith<'ILLEGAL_TRANSITION'>>('TransitionError'), {
  description: 'Transition that the current status does not allow.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    // Payments, tickets and refunds have statuses of different enums, so these are texts.
    from: t.string({
      description: 'Current status, such as `CANCELLED`.',
      resolve: ({ facts }) => facts.from.toUpperCase(),
    }),
    to: t.string({
      description: 'Requested status, such as `REFUNDED`.',
      resolve: ({ facts }) => facts.to.toUpperCase(),
    }),
  }),
})

builder.objectType(builder.objectRef<ProblemWith<'REFUND_TOO_HIGH'>>('RefundError'), {
  description: 'Refund that exceeds the amount still refundable.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    refundable: t.float({
      description: 'Amount still refundable, in major units, such as 10.5 for €10.50.',
      resolve: ({ facts }) => facts.refundable,
    }),
  }),
})

builder.objectType(builder.objectRef<ProblemWith<'WARRANTY_ENDED'>>('WarrantyError'), {
  description: 'Refund after the end of the warranty.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    validUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'End of the warranty.',
      resolve: ({ facts }) => new Date(facts.validUntil),
    }),
  }),
})

builder.objectType(builder.objectRef<ProblemWith<'TOO_MANY_WEBHOOKS'>>('LimitError'), {
  description: 'The caller already has the maximum number of webhooks.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    limit: t.int({ description: 'Maximum number allowed.', resolve: ({ facts }) => facts.limit }),
  }),
})

/** Defines the type of a refused mutation, whose errors are of one family. */
export const refusedRef = (name: string, description: string, error: typeof RefusalErrorRef) =>
  builder.objectRef<Refused>(name).implement({
    description,
    fields: (t) => ({
      errors: t.field({
        type: [error],
        description: 'All reasons for the refusal.',
        resolve: ({ refused }) => refused,
      }),
    }),
  })

const RefusedRef = refusedRef('Refused', 'Refused mutation. Nothing was changed.', RefusalErrorRef)

/** Defines the result of a mutation: its payload, or `Refused`. See `objectResult` for a single object. */
export const resultUnion = <Payload extends object>(
  name: string,
  payload: ObjectRef<Types, Payload>,
  description: string,
  refused = RefusedRef,
) =>
  builder.unionType(name, {
    description,
    types: [payload, refused],
    resolveType: (result, { refusals }) => {
      if (!('refused' in result)) return payload
      refusals.push(...result.refused.map(({ code }: Problem) => code))
      return refused
    },
  })

/** Defines the result of a mutation that returns one object, or a list of which the mutation counts the cost:
 *  `<name>Payload` with the object in `field`, or `Refused`. `what` describes the object, and `note` adds a
 *  sentence to the description of the payload. */
export function objectResult<Field extends string, T extends object>(
  name: string,
  [field, ref]: [Field, ObjectRef<Types, T> | [ObjectRef<Types, T>]],
  what: string,
  note = '',
) {
  const payload = builder.objectRef<Record<Field, T | T[]>>(`${name}Payload`).implement({
    description: `${what}. ${note}`.trim(),
    fields: (t) => ({
      [field]: t.field({
        type: ref as ObjectRef<Types, object>,
        description: `${what}.`,
        complexity: { field: 1, multiplier: 1 },
        resolve: (payload) => payload[field],
      }),
    }),
  })
  return resultUnion(`${name}Result`, payload, `${what}, or the reasons for the refusal.`)
}
