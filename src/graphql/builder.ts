import SchemaBuilder, { type ObjectRef } from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import { GraphQLError } from 'graphql'
import type { Context } from '../request/context.ts'
import { isoTime } from '../shared/input-types.ts'
import type { Mode } from '../shared/mode.ts'
import { toMajor } from '../shared/money.ts'

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
    // Typical length of a list below an event: a handful of rates, prices, supplements.
    defaultListMultiplier: 4,
    // Operations are measured before they are executed, and not by each of their root fields.
    disabled: true,
  },
})

builder.scalarType('DateTime', {
  description: 'Timestamp in ISO 8601, UTC, with milliseconds. In input, a plain date means midnight UTC.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (date) => date.toISOString(),
  parseValue: (input) => {
    const parsed = isoTime.safeParse(input)
    if (!parsed.success) throw new GraphQLError('DateTime must be an ISO 8601 date or timestamp.')
    return parsed.data
  },
})

builder.scalarType('JSON', {
  description: 'A JSON object.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (object) => object,
  parseValue: (input) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new GraphQLError('JSON must be an object.')
    return input as Record<string, unknown>
  },
})

/** Defines an enum by the descriptions of its values. Their names are upper case with underscores for dots and colons.
 *  REST keeps the values as they are. */
export function enumOf<Value extends string>(
  name: string,
  description: string,
  descriptions: Record<Value, string>,
) {
  const values = Object.entries<string>(descriptions).map(([value, description]) => [
    value.replace(/[.:]/g, '_').toUpperCase(),
    { value: value as Value, description },
  ])
  return builder.enumType(name, {
    description,
    values: Object.fromEntries(values) as Record<string, { value: Value; description: string }>,
  })
}

/** Types that `node(id:)` can return. */
export const NodeRef = builder.interfaceRef<{ id: string }>('Node').implement({
  description: 'Object with a globally unique identifier, the same as its `_id` in REST. `node` finds it.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Globally unique identifier.' }) }),
})

builder.queryType({})
builder.mutationType({})
builder.subscriptionType({
  description:
    'Events that are streamed as `text/event-stream`, by the protocol GraphQL over Server-Sent Events in distinct connections mode.',
})

/** Mode of a key, and of what was sold with it. */
export const ModeRef = enumOf<Mode>('Mode', 'Mode of a key, and of everything that is sold with it.', {
  live: 'Real tickets, for real money.',
  test: 'Test tickets: they cost nothing, take none of the live places and open no door.',
})

/** Options of a field that shows an amount of its parent, kept in minor units, in major units. */
export const amount = <Parent extends { currency: string }>(
  description: string,
  minorOf: (parent: Parent) => number,
) => ({ description, resolve: (parent: Parent) => toMajor(minorOf(parent), parent.currency) })

/** The same for a column. */
export const amountOf = <Column extends string>(description: string, column: Column) =>
  amount(description, (parent: Record<Column, number> & { currency: string }) => parent[column])

/** Options of a field that shows a part of its parent as an object of its own. */
export const part = <Parent>(
  type: ObjectRef<typeof builder.$inferSchemaTypes, Parent>,
  description: string,
) => ({ type, description, resolve: (parent: Parent) => parent })

/** Options of a field that may be null. */
export const nullable = (description: string) => ({ nullable: true as const, description })

/** Options of a field that shows a time. */
export const time = (description: string) => ({ type: 'DateTime' as const, description })

/** The same for one that may be null. */
export const nullableTime = (description: string) => ({ ...time(description), ...nullable(description) })

/** Options of a field that shows an amount of its parent, as `amount` does, or null. */
export const nullableAmount = <Parent extends { currency: string }>(
  description: string,
  minorOf: (parent: Parent) => number | null,
) => ({
  ...nullable(description),
  resolve(parent: Parent) {
    const minor = minorOf(parent)
    return minor === null ? null : toMajor(minor, parent.currency)
  },
})
