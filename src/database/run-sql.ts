import { type SQL, sql } from 'drizzle-orm'
import type { Connection } from './database.ts'

/** Runs a statement that is not prepared, such as one that changes a table, and returns its rows as the driver
 *  parses them. */
export async function runSql<Row>(db: Connection, statement: SQL | string): Promise<Row[]> {
  const result: unknown = await db.execute(typeof statement === 'string' ? sql.raw(statement) : statement)
  // postgres.js returns the rows, PGlite an object that holds them.
  return Array.isArray(result) ? result : (result as { rows: Row[] }).rows
}
