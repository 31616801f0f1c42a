import { type GetColumnData, type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'

/** How rows come from the database: what is selected of them, how a statement of them is wrapped, and how its answer is
 *  read. */
export type Rows<Row> = {
  fields: Record<string, SQL.Aliased>
  /** `prefix` keeps the columns of several kinds apart, in one answer. */
  wrap(statement: string, prefix?: string): string
  read(answer: Record<string, string | null>, prefix?: string): Row[]
}

type RowOf<Columns extends Record<string, PgColumn>> = {
  [Name in keyof Columns]: GetColumnData<Columns[Name]>
}

const toDate = (text: string | null) => text && new Date(text)

// An object literal is what the engine makes fastest, and reads fastest afterwards; its names are those of our columns.
function rowMaker<Row>(
  columns: [name: string, column: PgColumn][],
): (values: unknown[][], count: number) => Row[] {
  const properties = columns.map(([name, column], index) => {
    const value = `columns[${index}][row]`
    return `${name}: ${column.getSQLType().startsWith('timestamp') ? `toDate(${value})` : value}`
  })
  const body = `return (columns, count) => {
    const rows = new Array(count)
    for (let row = 0; row < count; row++) rows[row] = { ${properties.join(', ')} }
    return rows
  }`
  return new Function('toDate', body)(toDate)
}

/** Makes one object of two rows, the second of these columns: what spreading them makes is several times as slow to make,
 *  and to read. */
export function rowJoiner<One, Other>(
  one: Record<string, PgColumn>,
  other: Record<string, PgColumn>,
): (one: One, other: Other) => One & Other {
  const properties = [
    ...Object.keys(one).map((name) => `${name}: one.${name}`),
    ...Object.keys(other).map((name) => `${name}: other.${name}`),
  ]
  return new Function('one', 'other', `return { ${properties.join(', ')} }`) as (
    one: One,
    other: Other,
  ) => One & Other
}

/** Rows of these columns, by their names in the house. They come column by column, each as one JSON array: a driver takes
 *  three times as long to read the same values one by one, and wide numbers, lists and objects need no reading of their
 *  own. An array a column, because the engine puts what it parses from long texts where garbage is collected late. */
export function rowsOf<Columns extends Record<string, PgColumn>>(columns: Columns): Rows<RowOf<Columns>> {
  const named = Object.entries(columns)
  const names = named.map(([name]) => name)
  const make = rowMaker<RowOf<Columns>>(named)
  return {
    fields: Object.fromEntries(named.map(([name, column]) => [name, sql`${column}`.as(name)])),
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
