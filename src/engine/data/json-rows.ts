import { is, type SQL, sql } from 'drizzle-orm'
import { PgArray, PgColumn } from 'drizzle-orm/pg-core'
import type { SelectResultFields as RowOf } from 'drizzle-orm/query-builders/select.types'

/** JSON encoding of rows: the fields to select, the wrapper around the statement, and the decoder. */
export type Rows<Row> = {
  fields: Record<string, SQL.Aliased>
  /** `prefix` keeps the columns of different kinds of rows apart in one result. */
  wrap(statement: SQL, prefix?: string): SQL
  read(result: Record<string, string | null>, prefix?: string): Row[]
}

/** A column, or an expression whose JSON value can be used as it is. */
type Column = PgColumn | SQL

const toDate = (text: string | null) => text && new Date(text)
const isTimestamp = (column: Column) => is(column, PgColumn) && column.columnType === 'PgTimestamp'

// Kinds of columns, as Drizzle names them, whose JSON is the value that their TypeScript type promises. In
// any other mode a column promises something else: bigint and numeric a bigint or a text, a date a Date.
const faithful =
  /^Pg(Text|Varchar|UUID|EnumColumn|Boolean|Integer|BigInt53|NumericNumber|DoublePrecision|Jsonb|DateString)$/

const isFaithful = (column: PgColumn): boolean =>
  is(column, PgArray) ? isFaithful(column.baseColumn) : faithful.test(column.columnType)

// Prepares the encoding of rows of columns: the fields to select, and the decoder, to which `placeOf` tells where the
// values of a column are. It is generated code, because V8 creates and reads an object literal fastest. The names are
// those of our columns.
function encodingOf<Columns extends Record<string, Column>>(
  columns: Columns,
  placeOf: (index: number) => string,
) {
  const named = Object.entries<Column>(columns)
  const properties = named.map(([name, column], index) => {
    if (isTimestamp(column)) return `${name}: toDate(${placeOf(index)})`
    if (is(column, PgColumn) && !isFaithful(column))
      throw new Error(`column ${name}: JSON does not carry ${column.getSQLType()} (${column.columnType})`)
    return `${name}: ${placeOf(index)}`
  })
  const body = `return (values, count) => {
    const rows = new Array(count)
    for (let row = 0; row < count; row++) rows[row] = { ${properties.join(', ')} }
    return rows
  }`
  return {
    names: Object.keys(columns),
    fields: Object.fromEntries(named.map(([name, column]) => [name, sql`${column}`.as(name)])),
    toRows: new Function('toDate', body)(toDate) as (values: unknown[][], count: number) => RowOf<Columns>[],
  }
}

/** Creates a function that joins a stable row with a volatile one, such as an object with its counters, which have these
 *  columns. Slow form: (row, other) => ({ ...row, ...other }), which takes a hundred times as long. */
export function rowJoiner<One, Other>(
  one: Record<string, PgColumn>,
  other: Record<string, PgColumn>,
): (row: One, other: Other) => One & Other {
  const properties = [
    ...Object.keys(one).map((name) => `${name}: row.${name}`),
    ...Object.keys(other).map((name) => `${name}: other.${name}`),
  ]
  return new Function('row, other', `return { ${properties.join(', ')} }`) as never
}

/** Encodes rows column by column, each column as one JSON array. The driver takes three times as long to
 *  parse the same values one by one, and numerics, arrays and objects would each need a parser. One array per
 *  column rather than one for all, because V8 allocates what it parses from long texts in the old
 *  generation. Throws for a column whose type JSON does not carry faithfully. */
export function rowsOf<Columns extends Record<string, Column>>(columns: Columns): Rows<RowOf<Columns>> {
  const { names, fields, toRows } = encodingOf(columns, (index) => `values[${index}][row]`)
  return {
    fields,
    wrap(statement, prefix = '') {
      const lists = names.map(
        (name) => sql`json_agg(${sql.identifier(name)})::text as ${sql.identifier(prefix + name)}`,
      )
      return sql`select ${sql.join(lists, sql`, `)} from (${statement}) as rows`
    },
    read(result, prefix = '') {
      // json_agg of no rows is null.
      const values = names.map((name): unknown[] => JSON.parse(result[prefix + name] ?? '[]'))
      return toRows(values, values[0]?.length ?? 0)
    },
  }
}

/** Encodes rows one by one in a single JSON array, which is faster than an array per column if there are few
 *  rows. At most 100 columns: PostgreSQL passes no more arguments to a function. Throws as `rowsOf` does. */
export function fewRowsOf<Columns extends Record<string, Column>>(columns: Columns): Rows<RowOf<Columns>> {
  const { names, fields, toRows } = encodingOf(columns, (index) => `values[row][${index}]`)
  const values = sql.join(names.map(sql.identifier), sql`, `)
  return {
    fields,
    wrap: (statement, prefix = '') =>
      sql`select json_agg(json_build_array(${values}))::text as ${sql.identifier(`${prefix}rows`)}
        from (${statement}) as rows`,
    read(result, prefix = '') {
      const values: unknown[][] = JSON.parse(result[`${prefix}rows`] ?? '[]')
      return toRows(values, values.length)
    },
  }
}
