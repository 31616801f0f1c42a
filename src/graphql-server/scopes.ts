import type { GraphQLSchema } from 'graphql'
import { lackedScope, scopeOfOperation } from '../auth/scopes.ts'
import { type Context, requireScope } from '../request/context.ts'

/** Reports whether the caller may do an operation: every caller but an integration whose key lacks its
 *  scope. */
export const isInScope = ({ caller }: Context, operation: string): boolean =>
  caller?.kind !== 'integration' || lackedScope(operation, caller.scopes) === null

/** Makes the root fields that need a scope refuse integrations without it, before they do anything. */
export function requireScopes(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
  for (const root of roots)
    for (const field of Object.values(root?.getFields() ?? {})) {
      const operation = `${root?.name}.${field.name}`
      if (!scopeOfOperation[operation]) continue
      const name = root?.name === 'Subscription' ? 'subscribe' : 'resolve'
      const run = field[name]
      field[name] = (source: unknown, args: unknown, ctx: Context, info) => {
        requireScope(ctx, operation)
        return run?.(source, args, ctx, info)
      }
    }
}
