import { type SQL, sql } from 'drizzle-orm'

type Executor = { execute(statement: SQL): PromiseLike<unknown> }

/** Returns the rows of a driver's result: postgres.js returns the rows, PGlite an object that holds them. */
export const resultRows = <Row>(result: unknown): Row[] =>
  Array.isArray(result) ? result : (result as { rows: Row[] }).rows

/** Runs a statement that is not prepared, such as one that changes a table, and returns its rows as the driver
 *  parses them. */
export const runSql = async <Row>(db: Executor, statement: SQL | string): Promise<Row[]> =>
  resultRows(await db.execute(typeof statement === 'string' ? sql.raw(statement) : statement))
