import type { ObjectRef, UnionRef } from '@pothos/core'
import type { z } from 'zod'
import type { Context } from '../request/context.ts'
import { limitProblems, type Problem, type ProblemWith, Refusal } from '../shared/errors.ts'
import { parse } from '../shared/parse.ts'
import { type Code, type FactName, type FactsByCode, facts, problemCodes } from '../shared/problem-codes.ts'
import { builder, type DescribedValues } from './builder.ts'
import { inputOf } from './input-of.ts'

const values = Object.fromEntries(
  Object.entries(problemCodes).map(([value, { text }]) => [value, { value, description: text }]),
) as DescribedValues<Code>

const ErrorCodeRef = builder.enumType('ErrorCode', {
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

const typesByFamily = new WeakMap<object, Map<Code, string>>()

/** Defines the interface of a family of errors. A code for which the family has no `errorType` is an `InputError`. */
export function problemRef(name: string, description: string) {
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
  typesByFamily.set(ref, types)
  return ref
}

// Payments, tickets and refunds have statuses of different enums, so these are texts.
const scalarOf = { count: 'Int', amount: 'Float', moment: 'DateTime', status: 'String' } as const
const shown = {
  count: Number,
  amount: Number,
  moment: (value: unknown) => new Date(String(value)),
  status: (value: unknown) => String(value).toUpperCase(),
}

/** Defines the type of errors with these codes, and describes those of their facts that it has. `families` are the
 *  interfaces to which it belongs. */
export function errorType<C extends keyof FactsByCode>(
  name: string,
  codes: C[],
  families: ReturnType<typeof problemRef>[],
  description: string,
  texts: Partial<Record<FactName<C>, string>>,
  { nullable = false } = {},
): void {
  for (const family of families) for (const code of codes) typesByFamily.get(family)?.set(code, name)
  builder.objectType(builder.objectRef<ProblemWith<keyof FactsByCode>>(name), {
    description,
    interfaces: families,
    fields: (t) => {
      const field = ([fact, text]: [string, string]) => {
        const [kind] = facts[fact as FactName]
        const resolve = ({ facts }: { facts: Partial<Record<string, unknown>> }) =>
          facts[fact] === undefined ? null : shown[kind](facts[fact])
        const options = { type: scalarOf[kind] as 'String', nullable, description: text }
        return [fact, t.field({ ...options, resolve: resolve as () => string })]
      }
      return Object.fromEntries(Object.entries<string>(texts as Record<string, string>).map(field))
    },
  })
}

export const RefusalErrorRef = problemRef('RefusalError', 'Reason why a mutation was refused.')

errorType(
  'TransitionError',
  ['ILLEGAL_TRANSITION'],
  [RefusalErrorRef],
  'Transition that the current status does not allow.',
  { from: 'Current status, such as `CANCELLED`.', to: 'Requested status, such as `REFUNDED`.' },
)
errorType(
  'RefundError',
  ['REFUND_TOO_HIGH'],
  [RefusalErrorRef],
  'Refund that exceeds the amount still refundable.',
  { refundable: 'Amount still refundable, in major units, such as 10.5 for €10.50.' },
)
errorType(
  'WarrantyError',
  ['WARRANTY_ENDED'],
  [RefusalErrorRef],
  'Refund after the end of the warranty.',
  { validUntil: 'End of the warranty.' },
  { nullable: true },
)
errorType(
  'LimitError',
  ['TOO_MANY_WEBHOOKS'],
  [RefusalErrorRef],
  'The caller already has the maximum number of webhooks.',
  { limit: 'Maximum number allowed.' },
)

/** Defines the type of a refused mutation, whose errors are of one family. */
export const refusedRef = (name: string, description: string, error: typeof RefusalErrorRef) =>
  builder.objectRef<Refused>(name).implement({
    description,
    fields: (t) => ({
      errors: t.expose('refused', { type: [error], description: 'All reasons for the refusal.' }),
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

/** A mutation: what it takes, what it returns and who may do it. */
type Mutation<Input extends z.ZodType<unknown, object>, Result> = {
  description: string
  /** Schema of its input type, `<name>Input`. */
  input: Input
  isOneOf?: boolean
  /** Parser of the input: `parseRequest` where people fill it in. */
  parse?: typeof parse
  result: UnionRef<Types, Result>
  /** Requires the kind of caller, before the input is looked at: a wrong one learns nothing of it. */
  caller?: (ctx: Context) => unknown
  complexity?: (args: { input: z.input<Input> }) => { field: number; multiplier: number }
  run(input: z.output<Input>, ctx: Context): Promise<Result>
}

/** Defines a mutation, whose refusals are data. */
export function mutation<Input extends z.ZodType<unknown, object>, Result>(
  name: string,
  {
    description,
    input,
    isOneOf,
    parse: read = parse,
    result,
    caller,
    complexity,
    run,
  }: Mutation<Input, Result>,
): void {
  const type = inputOf(`${name[0]?.toUpperCase()}${name.slice(1)}Input`, input, { isOneOf })
  builder.mutationField(name, (t) =>
    t.field({
      type: result,
      description,
      ...(complexity && { complexity: complexity as never }),
      args: { input: t.arg({ type, required: true, description: input.description }) },
      resolve: (_root, args, ctx) =>
        catchRefusal(async () => {
          caller?.(ctx)
          return run(read(input, (args as { input: unknown }).input), ctx)
        }) as never,
    }),
  )
}
