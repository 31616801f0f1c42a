import { sql } from 'drizzle-orm'
import { type Database, resultRows } from '../../src/engine/database/database.ts'

// Connections of a pool.
const connections = 10

type Session = { pid: number; texts: string[] }

/** Prepared statements of each session of a database's pool. */
export async function preparedIn(db: Database): Promise<string[][]> {
  // Long enough that each asks another session.
  const ask = async () =>
    resultRows<Session>(
      await db.execute(sql`select pg_backend_pid() as pid, pg_sleep(0.2),
        array(select statement from pg_prepared_statements) as texts`),
    )
  const asked = await Promise.all(Array.from({ length: connections }, ask))
  return [...new Map(asked.flat().map(({ pid, texts }) => [pid, texts])).values()]
}
