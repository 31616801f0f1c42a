import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { textArrayParam } from './prepared.ts'

/** SQL types by column name. */
export type Types = Record<string, string>

export const list = (parts: SQL[]) => sql.join(parts, sql`, `)
export const name = (text: string) => sql`${sql.identifier(text)}`

/** Maps the columns of a table to their SQL types, without those in `except`. */
export const typesOf = (table: PgTable, { except }: { except: readonly string[] }): Types =>
  Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([column]) => !except.includes(column))
      .map(([name, column]) => [name, column.getSQLType()]),
  )

/** Lists the column names for these cells, for an `insert into … (…)`. */
export const columnsOf = (table: PgTable, cells: Record<string, SQL>): SQL => {
  const columns = getTableColumns(table)
  return list(Object.keys(cells).map((column) => name(columns[column]?.name ?? column)))
}

// Throws for what PostgreSQL would read as something else, or refuse without naming the column: a date would
// become quoted JSON, and an array is no array literal.
function toText(value: unknown, column: string, type: string): string | null {
  if (value === null || value === undefined) return null
  if (typeof value !== 'object') return String(value)
  if (type === 'jsonb' && !(value instanceof Date)) return JSON.stringify(value)
  throw new Error(`${column}: a row of parameters can't hold ${value.constructor.name} as ${type}`)
}

/** Passes rows to a prepared statement as one text array per column, which PostgreSQL reads in a sixth of the
 *  time that JSON takes. `rows` goes after `from`, `cells` are the typed columns, `values` builds the
 *  parameters, and throws for a date, and for an object that is not for a column of JSON. */
export function arrayRows(alias: string, types: Types) {
  const columns = Object.entries(types)
  const parameter = (column: string) => `${alias}_${column}`
  const arrays = columns.map(([column]) => textArrayParam(parameter(column)))
  const names = columns.map(([column]) => name(column))
  return {
    rows: sql`unnest(${list(arrays)}) as ${name(alias)}(${list(names)})`,
    /** `rows` with one more column that numbers them from 1. */
    ordered: (order: string) =>
      sql`unnest(${list(arrays)}) with ordinality as ${name(alias)}(${list([...names, name(order)])})`,
    cells: Object.fromEntries(
      columns.map(([column, type]) => [column, sql`${name(alias)}.${name(column)}::${sql.raw(type)}`]),
    ),
    values: (rows: Record<string, unknown>[]) =>
      Object.fromEntries(
        columns.map(([column, type]) => [
          parameter(column),
          rows.map((row) => toText(row[column], column, type)),
        ]),
      ),
  }
}

export type ArrayRows = ReturnType<typeof arrayRows>
