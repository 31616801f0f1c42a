import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import { GraphQLError } from 'graphql'
import type { Context } from '../request/context.ts'
import { formatTimestamp } from '../shared/format-timestamp.ts'
import { moment } from '../shared/input-types.ts'
import { requestLimits } from '../shared/request-limits.ts'

const { maxComplexity, maxDepth, maxBreadth } = requestLimits
const limit = { complexity: maxComplexity, depth: maxDepth, breadth: maxBreadth }

export const builder = new SchemaBuilder<{
  Context: Context
  DefaultFieldNullability: false
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    JSON: { Input: Record<string, unknown>; Output: Record<string, unknown> }
  }
}>({
  plugins: [ComplexityPlugin],
  defaultFieldNullability: false,
  complexity: {
    defaultComplexity: 1,
    // What a list of an event holds as a rule: a handful of rates, prices, supplements.
    defaultListMultiplier: 4,
    limit: ({ isMeasured }) => (isMeasured ? {} : limit),
    complexityError: (kind, { complexity, depth, breadth }) =>
      new GraphQLError(
        `The query is too complex (${kind.toLowerCase()}): complexity ${complexity} of ${limit.complexity}, depth ${depth} of ${limit.depth}, breadth ${breadth} of ${limit.breadth}.`,
        { extensions: { code: 'QUERY_TOO_COMPLEX' } },
      ),
  },
})

builder.scalarType('DateTime', {
  description: 'A moment: ISO 8601 in UTC with milliseconds. A plain date is taken as midnight UTC.',
  serialize: formatTimestamp,
  parseValue: (given) => {
    const parsed = moment.safeParse(given)
    if (!parsed.success) throw new GraphQLError('DateTime must be an ISO 8601 date or timestamp.')
    return parsed.data
  },
})

builder.scalarType('JSON', {
  description: 'A JSON object.',
  serialize: (object) => object,
  parseValue: (given) => {
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw new GraphQLError('JSON must be an object.')
    return given as Record<string, unknown>
  },
})

/** What `node(id:)` finds: anything with an identifier of its own. */
export const NodeRef = builder.interfaceRef<{ id: string }>('Node').implement({
  description: 'Anything with an identifier of its own. The identifier is the `_id` of REST.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Its identifier.' }) }),
})

builder.queryType({})
builder.mutationType({})
