import { type GetColumnData, is, type SQL, sql } from 'drizzle-orm'
import { PgColumn } from 'drizzle-orm/pg-core'

/** How rows come from the database: what is selected of them, how a statement of them is wrapped, and how its answer is
 *  read. */
export type Rows<Row> = {
  fields: Record<string, SQL.Aliased>
  /** `prefix` keeps the columns of several kinds apart, in one answer. */
  wrap(statement: string, prefix?: string): string
  read(answer: Record<string, string | null>, prefix?: string): Row[]
}

/** A column, or an expression whose value in JSON is what is wanted of it. */
type Column = PgColumn | SQL
type ValueOf<One> = One extends PgColumn ? GetColumnData<One> : One extends SQL<infer Value> ? Value : never
type RowOf<Columns extends Record<string, Column>> = { [Name in keyof Columns]: ValueOf<Columns[Name]> }

const toDate = (text: string | null) => text && new Date(text)
const isMoment = (column: Column) => is(column, PgColumn) && column.getSQLType().startsWith('timestamp')

type Named = [name: string, column: Column][]

// An object literal is what the engine makes fastest, and reads fastest afterwards; its names are those of our columns.
function rowMaker<Row>(
  columns: Named,
  placeOf: (index: number) => string,
): (values: unknown[][], count: number) => Row[] {
  const properties = columns.map(
    ([name, column], index) => `${name}: ${isMoment(column) ? `toDate(${placeOf(index)})` : placeOf(index)}`,
  )
  const body = `return (values, count) => {
    const rows = new Array(count)
    for (let row = 0; row < count; row++) rows[row] = { ${properties.join(', ')} }
    return rows
  }`
  return new Function('toDate', body)(toDate)
}

/** A row that is shown with what changes beside it. */
export type Joining<One, Other> = {
  readonly row: One
  /** One object of both: that of the last time, where nothing of the other has changed since, as it mostly has not from
   *  one page to the next. */
  with(other: Other): One & Other
}

/** Makes one object of two rows, the second of these columns, again and again: what spreading them makes is several
 *  times as slow to make, and to read. */
export function rowJoiner<One, Other>(
  one: Record<string, PgColumn>,
  other: Record<string, PgColumn>,
): (row: One) => Joining<One, Other> {
  const others = Object.keys(other)
  const properties = [
    ...Object.keys(one).map((name) => `${name}: row.${name}`),
    ...others.map((name) => `${name}: other.${name}`),
  ]
  const same = others.map((name) => `last.${name} === other.${name}`)
  const body = `return class {
    constructor(row) { this.row = row; this.last = null }
    with(other) {
      const { row, last } = this
      return last !== null && ${same.join(' && ')} ? last : this.last = { ${properties.join(', ')} }
    }
  }`
  const Made = new Function(body)() as new (row: One) => Joining<One, Other>
  return (row) => new Made(row)
}

const fieldsOf = (columns: Named) =>
  Object.fromEntries(columns.map(([name, column]) => [name, sql`${column}`.as(name)]))

/** Rows of these columns, by their names in the house. They come column by column, each as one JSON array: a driver
 *  takes three times as long to read the same values one by one, and wide numbers, lists and objects need no reading of
 *  their own. An array a column, because the engine puts what it parses from long texts where it collects late. */
export function rowsOf<Columns extends Record<string, Column>>(columns: Columns): Rows<RowOf<Columns>> {
  const named = Object.entries(columns)
  const names = named.map(([name]) => name)
  const make = rowMaker<RowOf<Columns>>(named, (index) => `values[${index}][row]`)
  return {
    fields: fieldsOf(named),
    wrap(statement, prefix = '') {
      const lists = names.map((name) => `json_agg("${name}")::text as "${prefix}${name}"`)
      return `select ${lists.join(', ')} from (${statement}) as rows`
    },
    read(answer, prefix = '') {
      // Of no rows there is no array.
      const values = names.map((name): unknown[] => JSON.parse(answer[prefix + name] ?? '[]'))
      return make(values, values[0]?.length ?? 0)
    },
  }
}

/** The same for what is read a few rows at a time: they come row by row, all in one array, because to begin and to end
 *  an array a column takes longer than so few values. At most 100 columns: PostgreSQL gives a function no more. */
export function fewRowsOf<Columns extends Record<string, Column>>(columns: Columns): Rows<RowOf<Columns>> {
  const named = Object.entries(columns)
  const values = named.map(([name]) => `"${name}"`).join(', ')
  const make = rowMaker<RowOf<Columns>>(named, (index) => `values[row][${index}]`)
  return {
    fields: fieldsOf(named),
    wrap: (statement, prefix = '') =>
      `select json_agg(json_build_array(${values}))::text as "${prefix}rows" from (${statement}) as rows`,
    read(answer, prefix = '') {
      const values: unknown[][] = JSON.parse(answer[`${prefix}rows`] ?? '[]')
      return make(values, values.length)
    },
  }
}
