import { z } from 'zod'
import { toMajor } from '../base/money.ts'

// JSON bodies of REST, the feed and lists. A field is described once: its schema with its text, what it shows
// of a row, and its value in examples. A body names its fields in their order, and has nothing else: its code
// shows all that its reader may see. Fields that several bodies have are defined beside the first of them.

/** Value that a field shows of a row: a column, or what is read of the row, and of what is given beside it. */
type From<Value> = string | ((row: never, beside: never) => Value)

type RowOf<F, Value> = F extends string
  ? Record<F, Value>
  : F extends (row: infer Row, beside: never) => unknown
    ? Row
    : never
type BesideOf<F> = F extends (row: never, beside: infer Beside) => unknown ? Beside : unknown

/** One field of a body. */
type Field<Row = never, Beside = never, Schema extends z.ZodType = z.ZodType> = {
  schema: Schema
  from: From<unknown>
  /** Code that makes the value of what `from` returns; `row` is in scope. */
  as: (value: string) => string
  example: z.output<Schema>
  /** Rows that have the field. */
  reads?: (row: Row, beside: Beside) => void
}

type Fields = Record<string, Field>
type ReadsOf<Of extends Fields> = NonNullable<Of[keyof Of]['reads']>
type RowOfAll<Of extends Fields> = ReadsOf<Of> extends (row: infer Row, beside: never) => void ? Row : never
type BesideOfAll<Of extends Fields> =
  ReadsOf<Of> extends (row: never, beside: infer Beside) => void ? Beside : never

/** JSON body of a row. */
type Body<Row = never, Beside = never, Shape extends z.ZodRawShape = z.ZodRawShape> = {
  schema: z.ZodObject<Shape>
  /** Makes the body of a row. */
  of: (row: Row, ...beside: unknown extends Beside ? [] : [beside: Beside]) => z.output<z.ZodObject<Shape>>
  /** The body in the examples of the documentation. */
  example: z.output<z.ZodObject<Shape>>
}

// Generated code, because V8 creates an object literal fastest. The names are those of our fields and columns.
function makerOf(fields: Fields) {
  const readers = Object.entries(fields).filter(([, { from }]) => typeof from === 'function')
  const properties = Object.entries(fields).map(
    ([name, { from, as }]) =>
      `${name}: ${as(typeof from === 'string' ? `row.${from}` : `read_${name}(row, beside)`)}`,
  )
  const names = ['toMajor', ...readers.map(([name]) => `read_${name}`)]
  const make = new Function(...names, `return (row, beside) => ({ ${properties.join(', ')} })`)
  return make(toMajor, ...readers.map(([, { from }]) => from))
}

/** Defines the body of a row by its fields, with its name and its text in the OpenAPI document. */
export function body<Of extends Fields>(id: string, description: string, fields: Of) {
  const each = (name: 'schema' | 'example') =>
    Object.fromEntries(Object.entries(fields).map(([key, field]) => [key, field[name]]))
  type Shape = { [Name in keyof Of]: Of[Name]['schema'] }
  const schema = z.object(each('schema') as Shape).meta({ id, description })
  const made = { schema, of: makerOf(fields), example: each('example') }
  return made as unknown as Body<RowOfAll<Of>, BesideOfAll<Of>, Shape>
}

const asIs = (value: string) => value

/** Defines a field of any schema, as `field.of` where this file is imported as `field`. */
const field = <const F extends From<z.output<Schema>>, Schema extends z.ZodType>(
  from: F,
  schema: Schema,
  example: z.output<Schema>,
): Field<RowOf<F, z.output<Schema>>, BesideOf<F>, Schema> => ({ schema, from, as: asIs, example })

export { field as of }

// Makes the functions that define fields of one kind: of columns with such a value, in rows that also have `Needed`.
const kind =
  <Value, Schema extends z.ZodType, Needed = unknown>(type: () => Schema, as = asIs) =>
  <const F extends From<Value>>(
    from: F,
    text: string,
    example: z.output<Schema>,
  ): Field<RowOf<F, Value> & Needed, BesideOf<F>, Schema> => ({
    schema: type().describe(text),
    from,
    as,
    example,
  })

export const text = kind<string, z.ZodString>(z.string)
export const optionalText = kind<string | null, z.ZodNullable<z.ZodString>>(() => z.string().nullable())
export const integer = kind<number, z.ZodInt>(z.int)
export const optionalInteger = kind<number | null, z.ZodNullable<z.ZodInt>>(() => z.int().nullable())
export const number = kind<number, z.ZodNumber>(z.number)
export const texts = kind<string[], z.ZodArray<z.ZodString>>(() => z.array(z.string()))
export const flag = kind<boolean, z.ZodBoolean>(z.boolean)
export const link = kind<string | null, z.ZodNullable<z.ZodURL>>(() => z.url().nullable())
export const time = kind<Date, z.ZodISODateTime>(z.iso.datetime, (value) => `${value}.toISOString()`)
export const optionalTime = kind<Date | null, z.ZodNullable<z.ZodISODateTime>>(
  () => z.iso.datetime().nullable(),
  (value) => `${value}?.toISOString() ?? null`,
)

/** Defines a field with one of some values. */
export const oneOf = <const F extends From<Value>, Value extends string>(
  from: F,
  values: readonly Value[],
  text: string,
  example: NoInfer<Value>,
) => field(from as F & From<Value>, z.enum(values).describe(text), example as never)

// A row of a list may have none of its own.
const currency = 'row.currency ?? beside?.currency'

/** Defines an amount, which is in minor units of the row's currency, and in major units in the body. */
export const amount = kind<number, z.ZodNumber, { currency: string }>(
  z.number,
  (value) => `toMajor(${value}, ${currency})`,
)
export const optionalAmount = kind<number | null, z.ZodNullable<z.ZodNumber>, { currency: string }>(
  () => z.number().nullable(),
  (value) => `${value} === null ? null : toMajor(${value}, ${currency})`,
)

/** Defines a body within the body of the same row. */
export const part = <Row, Beside, Shape extends z.ZodRawShape>({
  schema,
  of,
  example,
}: Body<Row, Beside, Shape>) =>
  field(of as (row: Row, beside: Beside) => z.output<z.ZodObject<Shape>>, schema, example)

/** Defines a list of bodies. Amounts of its rows are in the currency of the row that has the list. */
export const list = <const F extends string, Row, Shape extends z.ZodRawShape>(
  from: F,
  { schema, of }: Body<Row, unknown, Shape>,
  text: string,
  example: z.output<z.ZodObject<Shape>>[] = [],
) => {
  const make = of as (row: never, list: unknown) => z.output<z.ZodObject<Shape>>
  return field(
    (row: Record<F, Omit<Row, 'currency'>[]> & Pick<Row, keyof Row & 'currency'>) =>
      row[from].map((one) => make(one as never, row)),
    z.array(schema).describe(text),
    example,
  )
}

/** Schema of a successful answer about a thing, with its name and its text in the OpenAPI document. */
export const answerOf = <Data extends z.ZodType>(id: string, text: string, thing: string, data: Data) =>
  z
    .object({ success: z.literal(true).describe(`Always true for ${thing}.`), data })
    .meta({ id, description: text })
