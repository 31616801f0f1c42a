import { assertObjectType, defaultFieldResolver, type GraphQLSchema, getNullableType } from 'graphql'
import { lackedScope, scopeOfOperation, seesWholeTickets, ticketFieldsAtDoor } from '../auth/scopes.ts'
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

/** Makes the fields of a ticket that the door has no need of nullable, and null for integrations whose key
 *  neither reads tickets nor sells them, whichever edge leads to the ticket (DECISIONS 103). */
export function hideFromDoor(schema: GraphQLSchema): void {
  const ticket = assertObjectType(schema.getType('Ticket'))
  for (const field of Object.values(ticket.getFields())) {
    if (ticketFieldsAtDoor.has(field.name)) continue
    const resolve = field.resolve ?? defaultFieldResolver
    field.type = getNullableType(field.type)
    field.resolve = (source, args, ctx: Context, info) =>
      ctx.caller?.kind === 'integration' && !seesWholeTickets(ctx.caller.scopes)
        ? null
        : resolve(source, args, ctx, info)
  }
}
