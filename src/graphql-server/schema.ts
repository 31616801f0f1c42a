import { isObjectType, lexicographicSortSchema, printSchema } from 'graphql'
import { eventById } from '../domain/event/loaders.ts'
import { locationById } from '../domain/location/loaders.ts'
import { organizationById } from '../domain/organization/loaders.ts'
import { paymentById } from '../domain/payment/loaders.ts'
import { ticketById } from '../domain/ticket/loaders.ts'
import { ticketRateById } from '../domain/ticket-rate/loaders.ts'
import { builder, NodeRef } from '../graphql/builder.ts'
import { requireCaller } from '../request/context.ts'
import { replayOutcomes } from './compiler/plugin.ts'
import { isInScope, requireScopes } from './scopes.ts'
import '../domain/organization/graphql.ts'
import '../domain/location/graphql.ts'
import '../domain/event/graphql.ts'
import '../domain/event/list-graphql.ts'
import '../domain/ticket-rate/graphql.ts'
import '../domain/ticket-rate/watch-graphql.ts'
import '../domain/discount/graphql.ts'
import '../domain/payment/graphql.ts'
import '../domain/ticket/graphql.ts'
import '../domain/ticket/lookup-graphql.ts'
import '../domain/sale/checkout/checkout-graphql.ts'
import '../domain/sale/box-office/box-office-graphql.ts'
import '../domain/sale/refund/cancel-ticket-graphql.ts'
import '../domain/sale/holder/holder-graphql.ts'
import '../domain/sale/release/cancel-checkout-graphql.ts'
import '../domain/refund/graphql.ts'
import '../domain/sale/refund/request-graphql.ts'
import '../domain/sale/report/graphql.ts'
import '../domain/check-in/graphql.ts'
import '../domain/check-in/redeem-graphql.ts'
import '../domain/change/graphql.ts'
import '../domain/change/watch-graphql.ts'
import '../domain/delivery/graphql.ts'
import '../domain/webhook/graphql.ts'
import '../domain/webhook/secret-graphql.ts'
import '../domain/webhook/deliveries-graphql.ts'

// Types that `node` can return. Imported identifiers have any shape, so each type is queried.
const nodes = {
  Event: eventById,
  TicketRate: ticketRateById,
  Ticket: ticketById,
  Payment: paymentById,
  Organization: organizationById,
  Location: locationById,
}

builder.queryField('node', (t) =>
  t.field({
    type: NodeRef,
    nullable: true,
    complexity: { field: Object.keys(nodes).length, multiplier: 1 },
    description:
      'Finds an event, ticket rate, ticket, payment, organization or location by its identifier. Null if there is none or the caller may not see it.',
    args: { id: t.arg.id({ required: true, description: 'Identifier, the `_id` in REST.' }) },
    resolve: async (_root, { id }, ctx) => {
      requireCaller(ctx)
      const found = await Promise.all(
        Object.entries(nodes)
          .filter(([typename]) => isInScope(ctx, `Node.${typename}`))
          .map(async ([typename, definition]) => {
            const row = await ctx.loaders.load<{ id: string } | null>(definition, id)
            return row && { ...row, __typename: typename }
          }),
      )
      return found.find((row) => row !== null) ?? null
    },
  }),
)

export const schema = builder.toSchema()
requireScopes(schema)
replayOutcomes(schema)

// Fields that expose the property of the same name need no resolver: execution reads the property directly.
for (const type of Object.values(schema.getTypeMap()))
  if (isObjectType(type))
    for (const field of Object.values(type.getFields()))
      if (field.extensions.pothosExposedField === field.name) field.resolve = undefined

/** Prints the schema, as committed in schema.graphql. */
export const printedSchema = (): string => `${printSchema(lexicographicSortSchema(schema))}\n`
