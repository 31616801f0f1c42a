import SchemaBuilder, {
  type FieldNullability,
  type FieldOptionsFromKind,
  type InputFieldMap,
  type ObjectRef,
  type TypeParam,
} from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import { GraphQLError, Kind } from 'graphql'
import { timestamp } from '../base/input-types.ts'
import { type Money, toMoney } from '../base/money.ts'
import type { Context } from '../request/context.ts'
import type { FieldNeeds } from './needs.ts'

/** Builder of the schema with its root fields, each of which says what it needs: see `queryField`, `subscriptionField` and
 *  `mutation`. */
export const rootBuilder = new SchemaBuilder<{
  Context: Context
  DefaultFieldNullability: false
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    JSON: { Input: Record<string, unknown>; Output: Record<string, unknown> }
    Decimal: { Input: string; Output: string }
    CurrencyCode: { Input: string; Output: string }
    Date: { Input: string; Output: string }
  }
}>({
  plugins: [ComplexityPlugin],
  defaultFieldNullability: false,
  complexity: {
    defaultComplexity: 1,
    // Typical length of a list below an object.
    defaultListMultiplier: 4,
    // Operations are measured before they are executed, and not by each of their root fields.
    disabled: true,
  },
})

/** Builder of all else. */
export const builder: Omit<typeof rootBuilder, 'queryField' | 'mutationField' | 'subscriptionField'> =
  rootBuilder

/** Types of the schema, for what is generic over them. */
export type Types = typeof builder.$inferSchemaTypes

builder.scalarType('DateTime', {
  description:
    'Time as a date and a time of day with its time zone, such as `2026-12-31T20:00:00.000Z`. In UTC with milliseconds in answers.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (date) => date.toISOString(),
  parseValue: (input) => {
    const parsed = timestamp.safeParse(input)
    if (!parsed.success)
      throw new GraphQLError(
        'DateTime must be a date and a time with its time zone, such as 2026-12-31T20:00:00Z.',
      )
    return parsed.data
  },
})

// JSON bodies hold no such name, but a literal of a document may.
const holdsPrototype = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (Object.hasOwn(value, '__proto__') || Object.values(value).some(holdsPrototype))

builder.scalarType('JSON', {
  description: 'A JSON object.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (object) => object,
  parseValue: (input) => {
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new GraphQLError('JSON must be an object.')
    if (holdsPrototype(input)) throw new GraphQLError('JSON must have no field named __proto__.')
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

type NoArgs = Record<never, never>
type Needing = { needs: FieldNeeds }

/** Defines a query, which is nullable: one that fails leaves the others. The server enforces its needs. */
export const queryField = <
  Type extends TypeParam<Types>,
  Resolved,
  Returned,
  Nullable extends FieldNullability<Type> = true,
  Args extends InputFieldMap = NoArgs,
>(
  name: string,
  {
    needs,
    ...options
  }: FieldOptionsFromKind<Types, Types['Root'], Type, Nullable, Args, 'Query', Resolved, Returned> & Needing,
): void =>
  rootBuilder.queryField(name, (t) => t.field({ nullable: true, extensions: { needs }, ...options } as never))

/** Defines a subscription. The server enforces its needs. */
export const subscriptionField = <
  Type extends TypeParam<Types>,
  Resolved,
  Returned,
  Args extends InputFieldMap = NoArgs,
>(
  name: string,
  {
    needs,
    ...options
  }: FieldOptionsFromKind<Types, Types['Root'], Type, false, Args, 'Subscription', Resolved, Returned> &
    Needing,
): void => rootBuilder.subscriptionField(name, (t) => t.field({ extensions: { needs }, ...options } as never))

/** Defines a field of a type that is defined elsewhere. */
export const fieldOf = <
  Parent,
  Type extends TypeParam<Types>,
  Resolved,
  Returned,
  Nullable extends FieldNullability<Type> = false,
  Args extends InputFieldMap = NoArgs,
>(
  ref: ObjectRef<Types, unknown, Parent>,
  name: string,
  options: FieldOptionsFromKind<Types, Parent, Type, Nullable, Args, 'Object', Resolved, Returned>,
): void => builder.objectField(ref, name, (t) => t.field(options) as never)

/** Types that `node(id:)` can return. */
export const NodeRef = builder.interfaceRef<{ id: string }>('Node').implement({
  description: 'Object with a globally unique identifier. `node` finds it.',
  fields: (t) => ({ id: t.exposeID('id', { description: 'Globally unique identifier.' }) }),
})

/** Defines a scalar whose values are texts of one shape. `what` tells what a mistaken one must be. With `isNumber` a
 *  number of JSON is taken by its digits. */
function textScalar(
  name: 'CurrencyCode' | 'Date' | 'Decimal',
  description: string,
  shape: RegExp,
  what: string,
  specifiedByURL: string,
  isNumber = false,
) {
  const kinds: string[] = isNumber ? [Kind.STRING, Kind.INT, Kind.FLOAT] : [Kind.STRING]
  const read = (input: unknown) => {
    const text = isNumber && typeof input === 'number' ? String(input) : input
    if (typeof text === 'string' && shape.test(text)) return text
    throw new GraphQLError(`${name} must be ${what}.`)
  }
  builder.scalarType(name, {
    description,
    specifiedByURL,
    serialize: (text) => text,
    extensions: { isText: true },
    parseValue: read,
    // A number in a document is read by its digits as well.
    parseLiteral: (node) => read('value' in node && kinds.includes(node.kind) ? node.value : null),
  })
}

textScalar(
  'Decimal',
  'Decimal number as text, such as `"19.44"`, with as many decimals as its currency has. In input a JSON number is taken too, if it is exact. Neither takes an exponent.',
  /^-?\d{1,15}(\.\d{1,15})?$/,
  'a decimal number as text, such as "19.44"',
  'https://www.w3.org/TR/xmlschema11-2/#decimal',
  true,
)
// Takes any text: one that is no day is refused where it is used, with its place.
textScalar(
  'Date',
  'Day, as `YYYY-MM-DD`.',
  /^/,
  'a day as text, such as "2026-12-31"',
  'https://www.rfc-editor.org/rfc/rfc3339#section-5.6',
)
textScalar(
  'CurrencyCode',
  'Currency, as an ISO 4217 code in upper case, such as `EUR`.',
  /^[A-Z]{3}$/,
  'an ISO 4217 code as text, such as "EUR"',
  'https://www.iso.org/iso-4217-currency-codes.html',
)

// Counted with the field that shows it.
const free = { field: 0, multiplier: 0 }

/** An amount of a currency. */
export const MoneyRef = builder.objectRef<Money>('Money').implement({
  description: 'Amount of money.',
  fields: (t) => ({
    amount: t.expose('amount', {
      type: 'Decimal',
      complexity: free,
      description: 'Amount in the major unit of its currency, such as `"10.50"` for €10.50.',
    }),
    currency: t.expose('currency', { type: 'CurrencyCode', complexity: free, description: 'Its currency.' }),
  }),
})

/** Options of a field that shows an amount of its parent, kept in minor units. */
export const amount = <Parent extends { currency: string }>(
  description: string,
  minorOf: (parent: Parent) => number,
) => ({ type: MoneyRef, description, resolve: (parent: Parent) => toMoney(minorOf(parent), parent.currency) })

/** The same for a column. */
export const amountOf = <Column extends string>(description: string, column: Column) =>
  amount(description, (parent: Record<Column, number> & { currency: string }) => parent[column])

/** Options of a field that shows a part of its parent as an object of its own. */
export const part = <Parent>(type: ObjectRef<Types, Parent>, description: string) => ({
  type,
  description,
  resolve: (parent: Parent) => parent,
})

/** Options of a field that may be null. */
export const nullable = (description: string) => ({ nullable: true as const, description })

/** Options of a field that shows a time. */
export const time = (description: string) => ({ type: 'DateTime' as const, description })

/** The same for one that may be null. */
export const nullableTime = (description: string) => ({ ...time(description), ...nullable(description) })

/** Options of a field that shows an amount of its parent, as `amount` does, or null. */
export const nullableAmount = <Parent>(description: string, minorOf: (parent: Parent) => number | null) => ({
  type: MoneyRef,
  ...nullable(description),
  resolve(parent: Parent & { currency: string }) {
    const minor = minorOf(parent)
    return minor === null ? null : toMoney(minor, parent.currency)
  },
})
