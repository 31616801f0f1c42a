import { isObjectType, lexicographicSortSchema, printSchema } from 'graphql'
import { builder, NodeRef } from './builder.ts'
import { replayOutcomes } from './compiled-execution.ts'
import { type Loaders, requireCaller } from './context.ts'
import './organization/graphql.ts'
import './location/graphql.ts'
import './event/graphql.ts'
import './event/list-graphql.ts'
import './ticket-rate/graphql.ts'
import './payment/graphql.ts'
import './ticket/graphql.ts'
import './ticket/lookup-graphql.ts'
import './ticket/checkout-graphql.ts'
import './ticket/cancel-graphql.ts'
import './payment/cancel-graphql.ts'
import './refund/graphql.ts'
import './refund/request-graphql.ts'
import './check-in/graphql.ts'
import './change/graphql.ts'
import './delivery/graphql.ts'
import './webhook/graphql.ts'
import './webhook/secret-graphql.ts'
import './webhook/deliveries-graphql.ts'

// The types that an identifier of its own leads to. Identifiers kept from an import have any shape, so each is asked.
const nodes = {
  Event: 'eventById',
  TicketRate: 'ticketRateById',
  Ticket: 'ticketById',
  Payment: 'paymentById',
  Organization: 'organizationById',
  Location: 'locationById',
} as const satisfies Record<string, keyof Loaders>

builder.queryField('node', (t) =>
  t.field({
    type: NodeRef,
    nullable: true,
    complexity: { field: Object.keys(nodes).length, multiplier: 1 },
    description: 'Anything with an identifier of its own.',
    args: { id: t.arg.id({ required: true, description: 'Its identifier, the `_id` of REST.' }) },
    resolve: async (_root, { id }, ctx) => {
      requireCaller(ctx)
      const found = await Promise.all(
        Object.entries(nodes).map(async ([typename, loader]) => {
          const row = await ctx.loaders[loader].load(id)
          return row && { ...row, __typename: typename }
        }),
      )
      return found.find((row) => row !== null) ?? null
    },
  }),
)

export const schema = builder.toSchema()
replayOutcomes(schema)

// A field that shows a property of its own name needs no resolver: whoever executes a query reads the property then.
for (const type of Object.values(schema.getTypeMap()))
  if (isObjectType(type))
    for (const field of Object.values(type.getFields()))
      if (field.extensions.pothosExposedField === field.name) field.resolve = undefined

/** The contract as text, as it stands in schema.graphql. */
export const printedSchema = (): string => `${printSchema(lexicographicSortSchema(schema))}\n`
