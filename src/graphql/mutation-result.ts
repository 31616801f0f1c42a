import type { ObjectRef } from '@pothos/core'
import { type Code, type Problem, Refusal, statusOf } from '../shared/errors.ts'
import { problemsToTell } from '../shared/told-problems.ts'
import { builder } from './builder.ts'

/** A Refusal as data: all its problems. */
export type Refused = { refused: Problem[] }

export const isRefused = (result: object): result is Refused => 'refused' in result

// Who may not call at all gets an error; what a buyer or a channel can run into is data (DECISIONS 6).
const isException = ({ code }: Problem) => code === 'UNAUTHENTICATED' || code === 'FORBIDDEN'

/** What a verb gives, or why it refused. */
export async function catchRefusal<T>(result: () => Promise<T>): Promise<T | Refused> {
  try {
    return await result()
  } catch (error) {
    if (error instanceof Refusal && !error.problems.some(isException))
      return { refused: problemsToTell(error.problems) }
    throw error
  }
}

const codes = Object.keys(statusOf) as [Code, ...Code[]]

export const ErrorCodeRef = builder.enumType('ErrorCode', {
  description: 'The codes of both surfaces.',
  values: codes,
})

/** What all reasons of a kind have in common. The type that a code has carries its facts; a code without facts is an
 *  InputError. */
export const problemRef = (name: string, description: string, typeOf: Partial<Record<Code, string>>) =>
  builder.interfaceRef<Problem>(name).implement({
    description,
    resolveType: ({ code }) => typeOf[code] ?? 'InputError',
    fields: (t) => ({
      code: t.field({
        type: ErrorCodeRef,
        description: 'What a program goes by.',
        resolve: ({ code }) => code,
      }),
      message: t.exposeString('message', { description: 'What a person reads.' }),
      path: t.string({
        nullable: true,
        description: 'The place in the input: `tickets.0.answers.1`.',
        resolve: ({ path }) => path?.join('.') ?? null,
      }),
    }),
  })

export const RefusalErrorRef = problemRef('RefusalError', 'Why something was refused.', {
  ILLEGAL_TRANSITION: 'TransitionError',
  REFUND_TOO_HIGH: 'RefundError',
  WARRANTY_ENDED: 'WarrantyError',
  TOO_MANY_WEBHOOKS: 'LimitError',
})

builder.objectType(builder.objectRef<Problem>('TransitionError'), {
  description: 'It may not become that any more, or not yet.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    from: t.string({ description: 'How it stands.', resolve: ({ facts }) => facts?.from ?? '' }),
    to: t.string({ description: 'What it was to become.', resolve: ({ facts }) => facts?.to ?? '' }),
  }),
})

builder.objectType(builder.objectRef<Problem>('RefundError'), {
  description: 'More was to be given back than is left of what was paid.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    refundable: t.float({
      description: 'What is left of it, in major units.',
      resolve: ({ facts }) => facts?.refundable ?? 0,
    }),
  }),
})

builder.objectType(builder.objectRef<Problem>('WarrantyError'), {
  description: 'The warranty is over.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    validUntil: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Until when it was.',
      resolve: ({ facts }) => (facts?.validUntil === undefined ? null : new Date(facts.validUntil)),
    }),
  }),
})

builder.objectType(builder.objectRef<Problem>('LimitError'), {
  description: 'There are as many already as there may be.',
  interfaces: [RefusalErrorRef],
  fields: (t) => ({
    limit: t.int({ description: 'How many there may be.', resolve: ({ facts }) => facts?.limit ?? 0 }),
  }),
})

const RefusedRef = builder.objectRef<Refused>('Refused').implement({
  description: 'Nothing was done.',
  fields: (t) => ({
    errors: t.field({
      type: [RefusalErrorRef],
      description: 'Everything that stands against it.',
      resolve: ({ refused }) => refused,
    }),
  }),
})

/** The result of a mutation: its payload, or why it was refused. */
export const resultUnion = <Payload extends object>(
  name: string,
  payload: ObjectRef<typeof builder.$inferSchemaTypes, Payload>,
  description: string,
) =>
  builder.unionType(name, {
    description,
    types: [payload, RefusedRef],
    resolveType: (result) => (isRefused(result) ? RefusedRef : payload),
  })
