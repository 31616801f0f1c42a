import type { ObjectRef, UnionRef } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import type { z } from 'zod'
import type { Context } from '../request/context.ts'
import type { Problem } from '../shared/errors.ts'
import { parse } from '../shared/parse.ts'
import { builder } from './builder.ts'
import { inputOf } from './input-of.ts'
import type { FieldNeeds } from './needs.ts'
import { catchRefusal, RefusedRef } from './problems.ts'

type Types = typeof builder.$inferSchemaTypes

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
  argumentDescription?: string
  isOneOf?: boolean
  /** Parser of the input: `parseRequest` where people fill it in. */
  parse?: typeof parse
  result: UnionRef<Types, Result>
  /** Required before the input is looked at: a wrong caller learns nothing of it. */
  needs: FieldNeeds
  /** Throws for an operation that may not have the field as it does: an error of the operation, and no data. */
  check?(ctx: Context, info: GraphQLResolveInfo): void
  complexity?: (args: { input: z.input<Input> }) => { field: number; multiplier: number }
  run(input: z.output<Input>, ctx: Context): Promise<Result>
}

/** Defines a mutation, whose refusals are data. Returns its input type. */
export function mutation<Input extends z.ZodType<unknown, object>, Result>(
  name: string,
  definition: Mutation<Input, Result>,
) {
  const { description, input, argumentDescription = input.description, isOneOf } = definition
  const { parse: read = parse, result, needs, check, complexity, run } = definition
  const type = inputOf(`${name[0]?.toUpperCase()}${name.slice(1)}Input`, input, { isOneOf })
  builder.mutationField(name, (t) =>
    t.field({
      type: result,
      description,
      extensions: { needs },
      ...(complexity && { complexity: complexity as never }),
      args: { input: t.arg({ type, required: true, description: argumentDescription }) },
      resolve: (_root, args, ctx, info) => {
        check?.(ctx, info)
        return catchRefusal(async () => run(read(input, (args as { input: unknown }).input), ctx)) as never
      },
    }),
  )
  return type
}
