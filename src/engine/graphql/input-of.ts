import type { ArgumentRef, InputType, InputTypeParam } from '@pothos/core'
import { z } from 'zod'
import * as scalars from '../base/input-types.ts'
import { metadata } from '../base/metadata.ts'
import { builder, type Types } from './builder.ts'

/** GraphQL types of zod schemas that their kind doesn't tell: identifiers, enums, and the objects of `inputOf`. */
export const inputTypes = z
  .registry<{ type: InputType<Types> }>()
  .add(scalars.identifier, { type: 'ID' })
  .add(scalars.id, { type: 'ID' })
  .add(metadata, { type: 'JSON' })

const scalarTypes: Partial<Record<string, InputType<Types>>> = {
  string: 'String',
  boolean: 'Boolean',
  date: 'DateTime',
}

// Schema of what a client sends, inside what zod makes of it.
function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodPipe) return schema.in as z.ZodType
  const wrappers = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodCatch]
  return wrappers.some((wrapper) => schema instanceof wrapper)
    ? (schema as z.ZodOptional<z.ZodType>).unwrap()
    : undefined
}

function typeOf(schema: z.ZodType): InputTypeParam<Types> {
  const known = inputTypes.get(schema)
  if (known) return known.type
  const inner = innerOf(schema)
  if (inner) return typeOf(inner)
  if (schema instanceof z.ZodArray) return [typeOf(schema.element as z.ZodType) as InputType<Types>]
  if (schema instanceof z.ZodNumber) return schema.isInt ? 'Int' : 'Float'
  const type = scalarTypes[schema.def.type]
  if (!type) throw new Error(`inputTypes has no type of an input that is a zod ${schema.def.type}`)
  return type
}

function descriptionOf(schema: z.ZodType): string | undefined {
  const inner = innerOf(schema)
  return schema.description ?? (inner && descriptionOf(inner))
}

function fieldOf(schema: z.ZodType) {
  const defaultValue = schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined
  return {
    type: typeOf(schema),
    description: descriptionOf(schema),
    required: defaultValue !== undefined || !schema.isOptional(),
    defaultValue: defaultValue as never,
  }
}

type Field = ReturnType<typeof fieldOf>
type FieldSchemas = Record<string, z.ZodType>

const mapFields = <Ref>(shape: FieldSchemas, toRef: (field: Field) => Ref) =>
  Object.fromEntries(Object.entries(shape).map(([name, schema]) => [name, toRef(fieldOf(schema))])) as never

inputTypes.add(scalars.money.shape.amount, { type: 'Decimal' })
inputTypes.add(scalars.money.shape.currency, { type: 'CurrencyCode' })
inputTypes.add(scalars.birthday, { type: 'Date' })

/** Makes arguments of the fields of a schema. */
export const argsOf = <Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
): { [Name in keyof Shape]: ArgumentRef<Types, z.input<Shape[Name]>> } =>
  builder.args((t) => mapFields(shapeOf(schema), (field) => t.field(field)))

/** Fields of the schema of an object, inside what zod makes of it. */
export const shapeOf = (schema: z.ZodType): FieldSchemas =>
  ((innerOf(schema) ?? schema) as z.ZodObject<FieldSchemas>).shape

/** Defines the input type of the schema of an object, which fields with that schema then have. */
export function inputOf<Schema extends z.ZodType<unknown, object>>(
  name: string,
  schema: Schema,
  { isOneOf = false } = {},
) {
  const ref = builder.inputRef<z.input<Schema>>(name)
  inputTypes.add(schema, { type: ref })
  return ref.implement({
    description: schema.description,
    isOneOf,
    fields: (t) => mapFields(shapeOf(schema), (field) => t.field(field)),
  })
}

inputOf('MoneyInput', scalars.money)
inputOf('TimeRange', scalars.timeRange)
