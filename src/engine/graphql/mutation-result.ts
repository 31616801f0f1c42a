import type { ObjectFieldBuilder, ObjectRef, UnionRef } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import type { z } from 'zod'
import { parse } from '../base/parse.ts'
import type { Context } from '../request/context.ts'
import { builder, rootBuilder, type Types } from './builder.ts'
import { inputOf, shapeOf } from './input-of.ts'
import type { FieldNeeds } from './needs.ts'
import { catchRefusal, type Refused, RefusedRef } from './problems.ts'

/** Defines `<name>Result`: what a field returns, or `Refused`. */
export const resultOf = <Payload extends object>(name: string, payload: ObjectRef<Types, Payload>) =>
  builder.unionType(`${name}Result`, {
    description: `\`${payload.name}\`, or the reasons for the refusal.`,
    types: [payload, RefusedRef],
    resolveType: (result, { refusals }) => {
      if (!('refused' in result)) return payload
      refusals.push(...(result as Refused).refused.map(({ code }) => code))
      return RefusedRef
    },
  })

type Fields<Payload extends object> = (
  t: ObjectFieldBuilder<Types, Payload>,
) => Record<string, ReturnType<ObjectFieldBuilder<Types, Payload>['field']>>

/** A mutation: what it takes, what it returns and who may do it. */
type Mutation<Input extends z.ZodObject | z.ZodType<unknown, object>, Payload extends object> = {
  description: string
  /** Schema of its input type, `<name>Input`. */
  input: Input
  /** Parser of the input: `parseRequest` where people fill it in. */
  parse?: typeof parse
  /** Required before the input is looked at: a wrong caller learns nothing of it. */
  needs: FieldNeeds
  complexity?: (args: { input: z.input<Input> }) => { field: number; multiplier: number }
  run(input: z.output<Input>, ctx: Context, info: GraphQLResolveInfo): Promise<Payload>
  /** Description and fields of its payload, `<name>Payload`. `replayed` is there wherever the input has a key. */
  payload: string
  fields: Fields<NoInfer<Payload>>
}

/** Fields of a payload that is one object. */
export const oneObject =
  <Field extends string, T extends object>(field: Field, type: ObjectRef<Types, T>, description: string) =>
  <Payload extends Record<Field, T>>(t: ObjectFieldBuilder<Types, Payload>) => ({
    [field]: t.field({ type, description, resolve: (payload: Payload) => payload[field] } as never),
  })

/** Defines a mutation, whose refusals are data, and which is nullable: one that fails leaves the results of those before
 *  it. Returns its result, `<name>Result`. */
export function mutation<Input extends z.ZodType<unknown, object>, Payload extends object>(
  name: string,
  definition: Mutation<Input, Payload>,
): UnionRef<Types, Payload | Refused> {
  const { description, input, parse: read = parse, needs, complexity, run } = definition
  const typeName = `${name[0]?.toUpperCase()}${name.slice(1)}`
  const type = inputOf(`${typeName}Input`, input)
  const hasKey = 'idempotencyKey' in shapeOf(input)
  const payload = builder.objectRef<Payload>(`${typeName}Payload`).implement({
    description: definition.payload,
    fields: (t) => ({
      ...definition.fields(t),
      ...(hasKey && {
        replayed: t.boolean({
          description: 'True if this repeats the result of an earlier request with the same key.',
          resolve: (payload) => (payload as { replayed?: boolean }).replayed === true,
        }),
      }),
    }),
  })
  const result = resultOf(typeName, payload)
  rootBuilder.mutationField(name, (t) =>
    t.field({
      type: result,
      nullable: true,
      description,
      extensions: { needs },
      ...(complexity && { complexity: complexity as never }),
      args: { input: t.arg({ type, required: true, description: input.description }) },
      resolve: (_root, args, ctx, info) =>
        catchRefusal(async () => run(read(input, (args as { input: unknown }).input), ctx, info)) as never,
    }),
  )
  return result as never
}
