import { type GetColumnData, is, type SQL, sql } from 'drizzle-orm'
import { PgArray, PgColumn } from 'drizzle-orm/pg-core'

/** JSON encoding of rows: the fields to select, the wrapper around the statement, and the decoder. */
export type Rows<Row> = {
  fields: Record<string, SQL.Aliased>
  /** `prefix` keeps the columns of different kinds of rows apart in one result. */
  wrap(statement: SQL, prefix?: string): SQL
  read(result: Record<string, string | null>, prefix?: string): Row[]
}

/** A column, or an expression whose JSON value can be used as it is. */
type Column = PgColumn | SQL
type ValueOf<One> = One extends PgColumn ? GetColumnData<One> : One extends SQL<infer Value> ? Value : never
type RowOf<Columns extends Record<string, Column>> = { [Name in keyof Columns]: ValueOf<Columns[Name]> }

const toDate = (text: string | null) => text && new Date(text)
const isTimestamp = (column: Column) => is(column, PgColumn) && column.columnType === 'PgTimestamp'

// Kinds of columns, as Drizzle names them, whose JSON is the value that their TypeScript type promises. In
// any other mode a column promises something else: bigint and numeric a bigint or a text, a date a Date.
const faithful =
  /^Pg(Text|Varchar|UUID|EnumColumn|Boolean|Integer|BigInt53|NumericNumber|DoublePrecision|Jsonb|DateString)$/

const isFaithful = (column: PgColumn): boolean =>
  is(column, PgArray) ? isFaithful(column.baseColumn) : faithful.test(column.columnType)

type Named = [name: string, column: Column][]

function namedOf(columns: Record<string, Column>): Named {
  for (const [name, column] of Object.entries(columns))
    if (is(column, PgColumn) && !isTimestamp(column) && !isFaithful(column))
      throw new Error(`column ${name}: JSON does not carry ${column.getSQLType()} (${column.columnType})`)
  return Object.entries(columns)
}

// Generated code, because V8 creates and reads an object literal fastest. The names are those of our columns.
function rowFactory<Row>(
  columns: Named,
  placeOf: (index: number) => string,
): (values: unknown[][], count: number) => Row[] {
  const properties = columns.map(
    ([name, column], index) =>
      `${name}: ${isTimestamp(column) ? `toDate(${placeOf(index)})` : placeOf(index)}`,
  )
  const body = `return (values, count) => {
    const rows = new Array(count)
    for (let row = 0; row < count; row++) rows[row] = { ${properties.join(', ')} }
    return rows
  }`
  return new Function('toDate', body)(toDate)
}

/** Creates a function that joins a stable row with a volatile one, such as a rate with its stock, which have these
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

const fieldsOf = (columns: Named) =>
  Object.fromEntries(columns.map(([name, column]) => [name, sql`${column}`.as(name)]))

/** Encodes rows column by column, each column as one JSON array. The driver takes three times as long to
 *  parse the same values one by one, and numerics, arrays and objects would each need a parser. One array per
 *  column rather than one for all, because V8 allocates what it parses from long texts in the old
 *  generation. Throws for a column whose type JSON does not carry faithfully. */
export function rowsOf<Columns extends Record<string, Column>>(columns: Columns): Rows<RowOf<Columns>> {
  const named = namedOf(columns)
  const names = named.map(([name]) => name)
  const toRows = rowFactory<RowOf<Columns>>(named, (index) => `values[${index}][row]`)
  return {
    fields: fieldsOf(named),
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
  const named = namedOf(columns)
  const values = sql.join(
    named.map(([name]) => sql.identifier(name)),
    sql`, `,
  )
  const toRows = rowFactory<RowOf<Columns>>(named, (index) => `values[row][${index}]`)
  return {
    fields: fieldsOf(named),
    wrap: (statement, prefix = '') =>
      sql`select json_agg(json_build_array(${values}))::text as ${sql.identifier(`${prefix}rows`)}
        from (${statement}) as rows`,
    read(result, prefix = '') {
      const values: unknown[][] = JSON.parse(result[`${prefix}rows`] ?? '[]')
      return toRows(values, values.length)
    },
  }
}
