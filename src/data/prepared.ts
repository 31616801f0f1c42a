import { is, Placeholder, type Query, type SQL, sql } from 'drizzle-orm'
import { type PgColumn, PgDialect, type PgSelectBuilder, type SelectedFields } from 'drizzle-orm/pg-core'
import type { Connection, Database } from '../database/database.ts'
import type { Rows } from './json-rows.ts'

type Prepared<Row> = { execute(values: Record<string, unknown>): Promise<Row[]> }
type Select = PgSelectBuilder<SelectedFields>

const preparedByDatabase = new WeakMap<Database, Map<string, unknown>>()

// Built once a database, and prepared once a connection.
function once<Statement>(db: Database, name: string, prepare: () => Statement): Statement {
  const prepared = preparedByDatabase.get(db) ?? new Map<string, unknown>()
  preparedByDatabase.set(db, prepared)
  const found = (prepared.get(name) as Statement | undefined) ?? prepare()
  prepared.set(name, found)
  return found
}

// Rows as the driver gives them: without fields Drizzle maps nothing.
async function rowsFrom<Row>(
  connection: Connection,
  name: string,
  query: Query,
  values: Record<string, unknown>,
): Promise<Row[]> {
  const prepared = connection._.session.prepareQuery(query, undefined, name, false)
  // One driver answers with the rows, the other with an object around them.
  const answer = (await prepared.execute(values)) as Row[] | { rows: Row[] }
  return Array.isArray(answer) ? answer : answer.rows
}

/** A statement that is built once a database and prepared once a connection, under its name. */
export const statement = <Row>(
  db: Database,
  name: string,
  build: (db: Database) => { prepare(name: string): Prepared<Row> },
): Prepared<Row> => once(db, name, () => build(db).prepare(name))

/** Rows of one kind, and the statement that finds them. */
export type Find<Row> = { rows: Rows<Row>; query: (select: Select) => { toSQL(): Query } }

function queryOf<Row>(db: Database, { rows, query }: Find<Row>, prefix?: string): Query {
  const { sql, params } = query(db.select(rows.fields)).toSQL()
  return { sql: rows.wrap(sql, prefix), params }
}

/** The same for rows that are read by the thousand: see json-rows.ts. */
export const rowStatement = <Row>(db: Database, name: string, find: Find<Row>): Prepared<Row> =>
  once(db, name, () => {
    const query = queryOf(db, find)
    return {
      async execute(values) {
        const [row] = await rowsFrom<Record<string, string | null>>(db, name, query, values)
        return row ? find.rows.read(row) : []
      },
    }
  })

/** The same for a transaction, which locks what it finds. Its text is made once. */
export function preparedRows<Row>(name: string, find: () => Find<Row>) {
  let made: { query: Query; rows: Rows<Row> } | undefined
  return async (connection: Connection, values: Record<string, unknown>): Promise<Row[]> => {
    if (!made) {
      const { rows, query } = find()
      const { sql, params } = query(connection.select(rows.fields)).toSQL()
      made = { query: { sql: rows.wrap(sql), params }, rows }
    }
    const [row] = await rowsFrom<Record<string, string | null>>(connection, name, made.query, values)
    return row ? made.rows.read(row) : []
  }
}

/** The same rows, by keys that are given under another name. */
export const keyedBy = <Row>(name: string, { rows, query }: Find<Row>): Find<Row> => ({
  rows,
  query: (select) => ({
    toSQL() {
      const { sql: text, params } = query(select).toSQL()
      const rename = (param: unknown) =>
        is(param, Placeholder) && param.name === 'keys' ? sql.placeholder(name) : param
      return { sql: text, params: params.map(rename) }
    },
  }),
})

/** What finds rows of several kinds, and what it finds. */
export type Finds<All extends unknown[]> = { [Kind in keyof All]: Find<All[Kind]> }
export type Found<All extends unknown[]> = { [Kind in keyof All]: All[Kind][] }

// Several statements as one, whose parameters of the same name are one.
function joined(statements: Query[]): Query {
  const params: unknown[] = []
  const names = new Map<unknown, number>()
  const place = (param: unknown): number => {
    const name = is(param, Placeholder) ? param.name : {}
    const known = names.get(name) ?? params.push(param)
    names.set(name, known)
    return known
  }
  const kinds = statements.map(({ sql, params }, kind) => {
    const text = sql.replace(/\$(\d+)/g, (_, number) => `$${place(params[number - 1])}`)
    return `(${text}) as kind_${kind}`
  })
  // Each is one row, and so are all of them.
  return { sql: `select * from ${kinds.join(', ')}`, params }
}

/** Finds rows of several kinds in one statement. Each takes what it needs of the values. */
export async function findTogether<All extends unknown[]>(
  db: Database,
  name: string,
  finds: Finds<All>,
  values: Record<string, unknown>,
): Promise<Found<All>> {
  const query = once(db, name, () => joined(finds.map((find, kind) => queryOf(db, find, `${kind}.`))))
  const [answer] = await rowsFrom<Record<string, string | null>>(db, name, query, values)
  const found = finds.map(({ rows }, kind) => rows.read(answer ?? {}, `${kind}.`))
  return found as Found<All>
}

/** A statement in SQL for the database as for a transaction: its text is made once, it is prepared once a connection,
 *  and its rows come as the driver gives them. */
export function preparedSql<Row>(name: string, text: () => SQL) {
  let query: Query | undefined
  return async (connection: Connection, values: Record<string, unknown>): Promise<Row[]> => {
    query ??= new PgDialect().sqlToQuery(text())
    return rowsFrom(connection, name, query, values)
  }
}

/** A list of texts that a statement is given, where it can't be seen what it holds: by its length, PostgreSQL would
 *  find the plan that it made for the last list too dear for each shorter one, and plan anew every time. */
export const textArrayParam = (name: string): SQL => sql`(select ${sql.placeholder(name)}::text[])::text[]`

/** Whether a column is one of the keys that are given: one statement for any number of them, planned once a connection,
 *  and none of them is interpolated. */
export const anyOf = (column: PgColumn, name: string): SQL => sql`${column} = any(${textArrayParam(name)})`

/** Whose rows a loader may find: each statement takes what it needs of this. */
export type Scope = {
  /** Organizations whose catalogue the caller sees. */
  organizationIds: string[]
  /** The channel that reads back its own payments and tickets; '' for another kind of caller. */
  channelId: string
  /** Organizations all of whose payments and tickets the caller reads. */
  ownOrganizationIds: string[]
}

// An identifier of ours or of an import. Anything else is nobody's, and never reaches the database.
const identifier = /^[\w.:-]{1,64}$/

/** Whether there may be a row of that key at all. */
export const isIdentifier = (key: string) => identifier.test(key)

/** Rows by a key of theirs, in their order. */
export function byKey<Row>(rows: Row[], key: (row: Row) => string): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const id = key(row)
    const list = found.get(id)
    if (list) list.push(row)
    else found.set(id, [row])
  }
  return found
}
