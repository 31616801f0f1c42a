import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import { type Connection, isDistributed, runSql } from '../database/database.ts'
import { query, textArrayParam } from './query.ts'

export const joinList = (parts: SQL[]) => sql.join(parts, sql`, `)
export const quoteName = (text: string) => sql`${sql.identifier(text)}`

const quoted = (text: string) => `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`

// Throws for what PostgreSQL would read as something else, or refuse without naming the column.
function toText(value: NonNullable<unknown>, column: string, type: string): string {
  if (typeof value !== 'object') return String(value)
  if (value instanceof Date && type !== 'jsonb') return value.toISOString()
  if (type === 'jsonb' && !(value instanceof Date)) return JSON.stringify(value)
  if (Array.isArray(value) && type.endsWith('[]')) return toListLiteral(value, column, type.slice(0, -2))
  throw new Error(`${column}: a row of parameters can't hold ${value.constructor.name} as ${type}`)
}

function toElement(value: unknown, column: string, type: string): string {
  if (value === null || value === undefined) return 'null'
  const text = toText(value, column, type)
  return typeof value === 'number' || typeof value === 'boolean' ? text : quoted(text)
}

const toListLiteral = (values: unknown[], column: string, type: string): string =>
  `{${values.map((value) => toElement(value, column, type)).join(',')}}`

// Writes a column as an array literal. One of nulls alone is empty, and `unnest` fills it up.
function toArrayLiteral(rows: Record<string, unknown>[], column: string, type: string): string {
  const values = rows.map((row) => row[column] ?? null)
  return values.every((value) => value === null) ? '{}' : toListLiteral(values, column, type)
}

// Writes a text within a composite value within an array: both double a quote and a backslash.
const quotedTwice = (text: string) =>
  `\\"${/["\\]/.test(text) ? text.replaceAll('\\', '\\\\\\\\').replaceAll('"', '\\"\\"') : text}\\"`

function toAttribute(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return quotedTwice(value)
  return typeof value === 'object' ? quotedTwice(JSON.stringify(value)) : String(value)
}

/** Writes rows as the literal of an array of a composite type, whose attributes these are, in their order. Objects are
 *  written as JSON. Only a function of the database takes rows so; any other statement takes them by `arrayRows`. */
export const rowsLiteral = (attributes: string[], rows: Record<string, unknown>[]): string =>
  `{${rows.map((row) => `"(${attributes.map((attribute) => toAttribute(row[attribute])).join(',')})"`).join(',')}}`

/** Passes rows to a statement as one array of texts per column, which PostgreSQL reads in a sixth of the time that JSON
 *  takes. `types` are SQL types, or columns that have them. `rows` goes after `from`, `cells` are the typed columns,
 *  `values` builds the parameters, and throws for an object that is neither a date nor for a column of JSON or a
 *  list. At least one column has values, such as an identifier. */
export function arrayRows(alias: string, types: Record<string, string | PgColumn>) {
  const columns = Object.entries(types).map(([column, given]) => {
    const type = typeof given === 'string' ? given : given.getSQLType()
    const cell = sql`${quoteName(alias)}.${quoteName(column)}::${sql.raw(type)}`
    return { column, type, cell, parameter: `${alias}_${column}` }
  })
  const names = joinList(columns.map(({ column }) => quoteName(column)))
  const arrays = joinList(columns.map(({ parameter }) => textArrayParam(parameter)))
  const rows = sql`unnest(${arrays}) as ${quoteName(alias)}(${names})`
  const typed = (rows: SQL) =>
    sql`(select ${joinList(columns.map(({ column, cell }) => sql`${cell} as ${quoteName(column)}`))} from ${rows} offset 0) as ${quoteName(alias)}`
  const values = (rows: Record<string, unknown>[]): Record<string, string> =>
    Object.fromEntries(
      columns.map(({ column, type, parameter }) => [parameter, toArrayLiteral(rows, column, type)]),
    )
  return {
    rows,
    /** `rows` with one more column that numbers them from 1. */
    ordered: (order: string) =>
      sql`unnest(${arrays}) with ordinality as ${quoteName(alias)}(${names}, ${quoteName(order)})`,
    cells: Object.fromEntries(columns.map(({ column, cell }) => [column, cell])),
    /** `rows` with typed columns. A cluster updates by no cell of an enum or a date, whose conversion is stable: the
     *  offset keeps the conversion in the subquery. */
    typed: typed(rows),
    values,
    /** `typed` with the values in it, for a statement that is not prepared. */
    holding(given: Record<string, unknown>[]) {
      const literals = Object.values(values(given)).map((literal) => sql`${literal}::text[]`)
      return typed(sql`unnest(${joinList(literals)}) as ${quoteName(alias)}(${names})`)
    },
  }
}

type ColumnOf<Table extends PgTable> = keyof Table['$inferSelect'] & string

/** Creates an insert of rows of a table, in the order of `key`, with these columns, or all but `createdAt`. With `skip`
 *  it leaves out those that are there already. Resolves to the keys of those that it has inserted. */
export function insertRows<
  Table extends PgTable,
  Column extends ColumnOf<Table> = Exclude<ColumnOf<Table>, 'createdAt'>,
>(
  name: string,
  table: Table,
  { key, skip = false, columns }: { key: NoInfer<Column>; skip?: boolean; columns?: Column[] },
) {
  const all = getTableColumns<PgTable>(table)
  const isWritten = (name: string) => columns?.some((column) => column === name) ?? name !== 'createdAt'
  const written = Object.entries(all).filter(([name]) => isWritten(name))
  const { rows, cells, values } = arrayRows('given', Object.fromEntries(written))
  const write = (rows: SQL) => sql`
    insert into ${table} (${joinList(written.map(([, { name }]) => quoteName(name)))}) ${rows}
    ${skip ? sql`on conflict do nothing` : sql``} returning ${all[key]} as key`
  const insert = query<{ key: string }>(name, () =>
    write(sql`select ${joinList(Object.values(cells))} from ${rows} order by ${cells[key]}`),
  )
  // A cluster copies what an insert selects to the server of its rows, and commits that in two phases.
  const insertValues = (tx: Connection, rows: Record<string, unknown>[]) => {
    const ordered = [...rows].sort((one, other) => (String(one[key]) < String(other[key]) ? -1 : 1))
    const toCell = (value: unknown, name: string, type: string) =>
      sql`${value == null ? null : toText(value, name, type)}::text::${sql.raw(type)}`
    const lists = ordered.map(
      (row) =>
        sql`(${joinList(written.map(([name, column]) => toCell(row[name], name, column.getSQLType())))})`,
    )
    return runSql<{ key: string }>(tx, write(sql`values ${joinList(lists)}`))
  }
  return async (tx: Connection, rows: Pick<Table['$inferSelect'], Column>[]): Promise<Set<string>> => {
    if (rows.length === 0) return new Set()
    const inserted = await (isDistributed(tx) ? insertValues(tx, rows) : insert(tx, values(rows)))
    return new Set(inserted.map(({ key }) => key))
  }
}
