import { and, getTableColumns, type Query, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import {
  type PgColumn,
  PgDialect,
  type PgSelectBuilder,
  type PgTable,
  QueryBuilder,
  type SelectedFields,
} from 'drizzle-orm/pg-core'
import { LRUCache } from 'lru-cache'
import { type Connection, isOfOneServer, resultRows } from '../database/database.ts'
import type { Rows } from './json-rows.ts'

type Values = Record<string, unknown>
/** Beginning of a statement, which has its columns already. */
export type Select = PgSelectBuilder<SelectedFields, 'qb'>
type JsonRow = Record<string, string | null>

/** A statement that is prepared once per connection, for the database or a transaction. It uses the values that it
 *  names. */
type Run<Rows> = (connection: Connection, values: Values) => Promise<Rows>

/** A query for rows of one kind, and their JSON encoding. `keys` is the name of the parameter that the
 *  rows are found by. */
export type Find<Row> = { rows: Rows<Row>; query: (select: Select, keys: string) => SQLWrapper }

const encode = <Row>({ rows, query }: Find<Row>, prefix?: string): SQL =>
  rows.wrap(query(new QueryBuilder().select(rows.fields), 'keys').getSQL(), prefix)

/** Form of a statement: about all organizations, or about one, which its values name. On a distributed database the
 *  organization leads to a server; on one server rows are found by their keys, and it is a filter. */
type Form = 'all' | 'all filtered' | 'one' | 'one filtered'

// Form of the statement that is being written. It is global because writing is synchronous.
let writing: Form | null = null

function write(form: Form, text: () => SQL): Query {
  writing = form
  try {
    return new PgDialect().sqlToQuery(text())
  } finally {
    writing = null
  }
}

// Statements that were used last, by their names, of which their texts are functions: clients choose among thousands
// (DECISIONS 205).
const statements = new LRUCache<string, Run<never[]>>({ max: 400 })

// Each form is written once.
function prepared<Row>(name: string, text: () => SQL): Run<Row[]> {
  const known = statements.get(name)
  if (known) return known
  const written: Partial<Record<Form, Query>> = {}
  const run: Run<never[]> = async (connection, values) => {
    const about = values.organizationId === undefined ? 'all' : 'one'
    const form: Form = isOfOneServer(connection) ? `${about} filtered` : about
    written[form] ??= write(form, text)
    // Drizzle maps nothing if it is given no fields.
    const statement = connection._.session.prepareQuery(written[form], undefined, name, false)
    return resultRows(await statement.execute(values))
  }
  statements.set(name, run)
  return run
}

/** Creates a statement under a name that is unique in the service: a query whose rows travel as JSON (see
 *  json-rows.ts), or SQL, whose rows are as the driver parses them. One that is put together at run time is kept by its name
 *  while it is used. */
export function query<Row>(name: string, asked: Find<Row> | (() => SQL)): Run<Row[]> {
  if (typeof asked === 'function') return prepared(name, asked)
  const run = prepared<JsonRow>(name, () => encode(asked))
  return async (connection, values) => {
    const [found] = await run(connection, values)
    return found ? asked.rows.read(found) : []
  }
}

/** Gives the parameter `keys` of a query another name, so that it can be combined with other queries by
 *  keys. */
export const withKeysParam = <Row>(keys: string, { rows, query }: Find<Row>): Find<Row> => ({
  rows,
  query: (select) => query(select, keys),
})

/** Queries for rows of several kinds, and the rows that they find. */
export type Finds<All extends unknown[]> = { [Kind in keyof All]: Find<All[Kind]> }
export type Found<All extends unknown[]> = { [Kind in keyof All]: All[Kind][] }

// Each statement returns exactly one row, so their cross join is one row too.
const crossJoin = (statements: SQL[]): SQL =>
  sql`select * from ${sql.join(
    statements.map((statement, kind) => sql`(${statement}) as ${sql.identifier(`kind_${kind}`)}`),
    sql`, `,
  )}`

/** Creates a statement for rows of several kinds, in one round trip and so in one snapshot. */
export function queryTogether<All extends unknown[]>(name: string, finds: Finds<All>): Run<Found<All>> {
  const run = prepared<JsonRow>(name, () => crossJoin(finds.map((find, kind) => encode(find, `${kind}.`))))
  return async (connection, values) => {
    const [found = {}] = await run(connection, values)
    return finds.map(({ rows }, kind) => rows.read(found, `${kind}.`)) as Found<All>
  }
}

/** Text array parameter whose length the planner can't see. If it could, PostgreSQL would estimate by length,
 *  reject its generic plan for each shorter list, and plan on every execution (a lookup of eight keys: 650 µs
 *  instead of 219). */
export const textArrayParam = (name: string): SQL => sql`(select ${sql.placeholder(name)}::text[])::text[]`

/** Condition that a column is one of the given keys: one statement for any number of keys, planned once per
 *  connection. */
export const anyOf = (column: PgColumn, name: string): SQL => sql`${column} = any(${textArrayParam(name)})`

/** Value of a column that no index serves, for a condition that filters what others have found. The planner believes that
 *  an organization or a mode has few rows, as long as it is not told otherwise, and would look through all of
 *  them for one that it could find by its key. */
export const unindexed = (column: PgColumn | SQL): SQL => sql`(${column}::text || '')`

/** Condition that finds the rows of the organization that a statement is about, by an index that begins with it. The
 *  parameter is `organizationId`. */
export const ofOrganization = (column: PgColumn | SQL): SQL =>
  sql`${column} = ${sql.placeholder('organizationId')}`

// A statement that is written elsewhere than by `query` has one form.
function writtenForm(): Form {
  if (!writing) throw new Error('only a statement of `query` or `queryTogether` has several forms')
  return writing
}

const isFiltered = () => writing?.endsWith('filtered') ?? false
const filtered = (column: PgColumn | SQL) => (isFiltered() ? unindexed(column) : column)

/** Condition that rows that are found by a key are of the organization that a statement is about. A distributed
 *  database finds their server by it; on one server no index is chosen by it. */
export const inOrganization = (column: PgColumn | SQL): SQLWrapper => ({
  getSQL: () => ofOrganization(filtered(column)),
})

/** Condition that a row is of an organization and has one of these keys, for a statement that is written where it runs:
 *  as `inOrganization` and `anyOf`. */
export const hasKey = (
  connection: Connection,
  key: PgColumn,
  organizationId: string,
  keys: string[],
): SQL => {
  const { organizationId: column } = getTableColumns(key.table)
  if (!column) throw new Error('a key of no organization')
  return sql`(${isOfOneServer(connection) ? unindexed(column) : column} = ${organizationId}
    and ${key} = any(${sql.param(keys)}::text[]))`
}

/** Query for rows of a table by their identifiers, of the organization that a statement is about. */
export const ownById =
  (table: PgTable & Record<'organizationId' | 'id', PgColumn>) => (select: Select, keys: string) =>
    select.from(table as PgTable).where(and(inOrganization(table.organizationId), anyOf(table.id, keys)))

/** Condition that two rows, of which one names the other, are of one organization: joined by it on a distributed database,
 *  and by that name alone on one server. */
export const areOfOneOrganization = (one: PgColumn, other: PgColumn): SQLWrapper => ({
  getSQL: () => sql`${filtered(one)} = ${filtered(other)}`,
})

/** Condition that a row is of the organization that the values of a statement name, as `inOrganization`; of
 *  any, if they name none. Every distributed table that the statement reads needs the condition, so that a distributed
 *  database finds their rows on one server. */
export const inOrganizationIfNamed = (column: PgColumn | SQL): SQLWrapper => ({
  getSQL: () => (writtenForm().startsWith('all') ? sql`true` : inOrganization(column).getSQL()),
})

/** Table of the values that a column has in rows under a condition, each once, in the column `found`: read by an index that
 *  goes on with this column, from each value to the next. `from` chooses the rows of which the first has the next value;
 *  `walk.found` is the last one. A cluster can't do this, and reads `all`, a table of those that there may be. */
export function distinctValues(
  column: PgColumn,
  condition: SQL,
  all: SQL,
  from = sql`${column} > walk.found`,
): SQLWrapper {
  const next = sql`(select ${column} from ${column.table} where ${condition} and ${from} order by ${column} limit 1)`
  const walked = sql`(with recursive walk as (
    select '' as found union all select ${next} from walk where walk.found is not null
  ) select found from walk where found <> '')`
  return { getSQL: () => (isFiltered() ? walked : all) }
}
