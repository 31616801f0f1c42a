import '../domain/caller/roots-graphql.ts'
import '../domain/organization/viewer-graphql.ts'
import '../domain/location/graphql.ts'
import '../domain/event/graphql.ts'
import '../domain/listing/event-list-graphql.ts'
import '../domain/ticket-rate/graphql.ts'
import '../domain/discount/graphql.ts'
import '../domain/payment/graphql.ts'
import '../domain/contract/refusals-graphql.ts'
import '../domain/ticket/graphql.ts'
import '../domain/sales-lists/graphql.ts'
import '../domain/sale/checkout/checkout-graphql.ts'
import '../domain/sale/settle/graphql.ts'
import '../domain/sale/box-office/box-office-graphql.ts'
import '../domain/sale/attendee/attendee-graphql.ts'
import '../domain/refund/graphql.ts'
import '../domain/sale/refund/refund-graphql.ts'
import '../domain/sale/report/graphql.ts'
import '../domain/check-in/graphql.ts'
import '../domain/change/graphql.ts'
import '../domain/ticket/subject-graphql.ts'
import '../domain/webhook/graphql.ts'
import {
  GraphQLEnumType,
  GraphQLInputObjectType,
  type GraphQLNamedType,
  GraphQLScalarType,
  GraphQLSchema,
  isObjectType,
  printSchema,
} from 'graphql'
import { costOf, findNodes, hideFields, lookupsIn, requireAtRoots } from '../domain/caller/enforce-needs.ts'
import { refusal } from '../engine/base/errors.ts'
import { builder, NodeRef, queryField } from '../engine/graphql/builder.ts'
import { replayOutcomes } from '../engine/graphql-server/compiler/plugin.ts'

const maxNodes = 100

queryField('node', {
  type: NodeRef,
  needs: { caller: 'any', scope: 'none' },
  complexity: () => ({ field: costOf(lookups), multiplier: 1 }),
  description:
    'Finds an object of any type that implements `Node`. Null if there is none or the caller may not see it.',
  args: builder.args((t) => ({ id: t.id({ required: true, description: 'Identifier.' }) })),
  resolve: async (_root, { id }, ctx) => (await findNodes([id], lookups, ctx))[0] ?? null,
})

queryField('nodes', {
  type: [NodeRef],
  nullable: { list: true, items: true },
  needs: { caller: 'any', scope: 'none' },
  // The number of identifiers counts as those of a page do.
  complexity: ({ ids }) => ({
    field: costOf(lookups),
    multiplier: Math.min(maxNodes, Math.max(1, ids.length)),
  }),
  description: `Finds objects by their identifiers, at most ${maxNodes}, in the same order, as \`node\` does. Null in the place of each that does not exist or that the caller may not see; null as a whole if it is refused.`,
  args: builder.args((t) => ({
    ids: t.idList({ required: true, description: `Identifiers, at most ${maxNodes}.` }),
  })),
  resolve: (_root, { ids }, ctx) => {
    if (ids.length > maxNodes)
      throw refusal('INVALID', `ids must be at most ${maxNodes} identifiers.`, ['ids'])
    return findNodes(ids, lookups, ctx)
  },
})

// The roots and then objects first, as a reader looks for them; each kind in the order of the imports above, room by room.
const laterKinds = [GraphQLInputObjectType, GraphQLEnumType, GraphQLScalarType]
const kindOf = (type: GraphQLNamedType) => laterKinds.findIndex((kind) => type instanceof kind)
const built = builder.toSchema({ sortSchema: false }).toConfig()
const roots = [built.query, built.mutation, built.subscription].filter((root) => root != null)
const types = built.types.toSorted((one, other) => kindOf(one) - kindOf(other))
export const schema = new GraphQLSchema({ ...built, types: [...new Set([...roots, ...types])] })
const lookups = lookupsIn(schema)
requireAtRoots(schema)
replayOutcomes(schema)

// Fields that expose the property of the same name need no resolver: execution reads the property directly.
for (const type of Object.values(schema.getTypeMap()))
  if (isObjectType(type))
    for (const field of Object.values(type.getFields()))
      if (field.extensions.pothosExposedField === field.name) field.resolve = undefined

hideFields(schema)

/** Prints the schema, as committed in schema.graphql. */
export const printedSchema = (): string => `${printSchema(schema)}\n`
