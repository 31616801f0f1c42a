import { defaultFieldResolver, type GraphQLSchema, getNullableType, isObjectType } from 'graphql'
import type { FieldNeeds, TypeNeeds } from '../graphql/needs.ts'
import { type Context, hasScope, requireNeeds } from '../request/context.ts'

/** Makes each root field refuse callers that it is not for, before it does anything. */
export function requireAtRoots(schema: GraphQLSchema): void {
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()])
    for (const field of Object.values(root?.getFields() ?? {})) {
      const needs = field.extensions.needs as FieldNeeds
      const name = root === schema.getSubscriptionType() ? 'subscribe' : 'resolve'
      const run = field[name]
      field[name] = (source: unknown, args: unknown, ctx: Context, info) => {
        requireNeeds(ctx, needs)
        return run?.(source, args, ctx, info)
      }
    }
}

/** Makes the fields of types that need a scope nullable, and null for integrations without it (DECISIONS 103). */
export function hideFields(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    const needs = type.extensions.needs as TypeNeeds | undefined
    if (!needs || !isObjectType(type)) continue
    for (const field of Object.values(type.getFields())) {
      if (needs.except.has(field.name)) continue
      const resolve = field.resolve ?? defaultFieldResolver
      field.type = getNullableType(field.type)
      field.resolve = (source, args, ctx: Context, info) =>
        needs.oneOf.some((scope) => hasScope(ctx, scope)) ? resolve(source, args, ctx, info) : null
    }
  }
}
