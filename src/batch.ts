import { type Query, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgSelectBuilder, SelectedFields } from 'drizzle-orm/pg-core'
import type { Database } from './database.ts'
import { Loader } from './loader.ts'
import type { Rows } from './rows.ts'

type Prepared<Row> = { execute(values: Record<string, unknown>): Promise<Row[]> }

const preparedByDatabase = new WeakMap<Database, Map<string, Prepared<unknown>>>()

// Built once a database, and prepared once a connection.
function once<Row>(db: Database, name: string, prepare: () => Prepared<Row>): Prepared<Row> {
  const prepared = preparedByDatabase.get(db) ?? new Map<string, Prepared<unknown>>()
  preparedByDatabase.set(db, prepared)
  const found = (prepared.get(name) as Prepared<Row> | undefined) ?? prepare()
  prepared.set(name, found)
  return found
}

/** A statement that is built once a database and prepared once a connection, under its name. */
export const statement = <Row>(
  db: Database,
  name: string,
  build: (db: Database) => { prepare(name: string): Prepared<Row> },
): Prepared<Row> => once(db, name, () => build(db).prepare(name))

type Answer = Record<string, string | null>[]

/** The same for rows that are read by the thousand: see rows.ts. */
export const rowStatement = <Row>(
  db: Database,
  name: string,
  { fields, wrap, read }: Rows<Row>,
  build: (select: PgSelectBuilder<SelectedFields>) => { toSQL(): Query },
): Prepared<Row> =>
  once(db, name, () => {
    const query = build(db.select(fields)).toSQL()
    // Without fields Drizzle maps nothing.
    const prepared = db._.session.prepareQuery({ ...query, sql: wrap(query.sql) }, undefined, name, false)
    return {
      async execute(values) {
        // One driver answers with the rows, the other with an object around them.
        const answer = (await prepared.execute(values)) as Answer | { rows: Answer }
        const [row] = Array.isArray(answer) ? answer : answer.rows
        return row ? read(row) : []
      },
    }
  })

/** `column = any($name)`: one statement for any number of keys, and none of them is interpolated. */
export const anyOf = (column: PgColumn, name: string): SQL => sql`${column} = any(${sql.placeholder(name)})`

/** Whose rows a loader may find: each statement takes what it needs of this. */
export type Scope = {
  /** Organizations whose catalogue the caller sees. */
  organizationIds: string[]
  /** The channel that reads back its own payments and tickets; '' for another kind of caller. */
  channelId: string
  /** Organizations all of whose payments and tickets the caller reads. */
  ownOrganizationIds: string[]
}

type Batch<Row> = {
  /** The statement's name, unique in the house. */
  name: string
  rows: Rows<Row>
  query: (select: PgSelectBuilder<SelectedFields>) => { toSQL(): Query }
  key: (row: Row) => string
}

// An identifier of ours or of an import. Anything else is nobody's, and never reaches the database.
const identifier = /^[\w.:-]{1,64}$/

async function rowsByKey<Row>(
  db: Database,
  scope: Scope,
  keys: readonly string[],
  { name, rows, query, key }: Batch<Row>,
): Promise<Map<string, Row[]>> {
  const known = keys.filter((key) => identifier.test(key))
  const found = new Map<string, Row[]>(known.map((key) => [key, []]))
  if (known.length === 0) return found
  for (const row of await rowStatement(db, name, rows, query).execute({ ...scope, keys: known }))
    found.get(key(row))?.push(row)
  return found
}

/** Loads the row of each key in one statement a tick; null where there is none that the caller may see. */
export const loadOne = <Row>(db: Database, scope: Scope, batch: Batch<Row>): Loader<Row | null> =>
  new Loader(async (keys) => {
    const found = await rowsByKey(db, scope, keys, batch)
    return keys.map((key) => found.get(key)?.[0] ?? null)
  })

/** Loads the rows of each key in one statement a tick, in the order that the statement gives. */
export const loadMany = <Row>(db: Database, scope: Scope, batch: Batch<Row>): Loader<Row[]> =>
  new Loader(async (keys) => {
    const found = await rowsByKey(db, scope, keys, batch)
    return keys.map((key) => found.get(key) ?? [])
  })
