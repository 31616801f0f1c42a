import { errorCode } from '../../engine/base/errors.ts'
import { instruments } from '../../engine/base/instruments.ts'
import { type Connection, type Database, runSql } from '../../engine/database/database.ts'
import { invariants } from './rules.ts'

/** Result of an invariant. `broken` is the number of rows that break it, null if it could not be checked: then
 *  `code` is the database's, such as 57014 where it took too long. */
export type Checked = { rule: string; broken: number | null; code?: string | undefined }

/** Counts the rows that a query returns. */
export async function countRows(connection: Connection, query: string): Promise<number> {
  const count = `select count(*)::integer as count from (${query}) as found`
  const [row] = await runSql<{ count: number }>(connection, count)
  return row?.count ?? 0
}

/** Reads in a read-only transaction, which takes no lock that a sale waits for. A statement is ended after `timeoutMs`. */
export const readQuietly = <Result>(
  db: Database,
  timeoutMs: number,
  read: (tx: Connection) => Promise<Result>,
): Promise<Result> =>
  db.transaction(
    async (tx) => {
      await runSql(tx, `set local statement_timeout = ${Math.round(timeoutMs)}`)
      return read(tx)
    },
    { accessMode: 'read only' },
  )

/** Checks every invariant, one after the other, each in one snapshot, so that it works on a replica, too. */
export async function verify(db: Database, timeoutMs: number): Promise<Checked[]> {
  const checked: Checked[] = []
  const rules = Object.entries(invariants)
  for (const [rule, query] of rules) {
    instruments.progress?.('invariants', checked.length, rules.length)
    checked.push(
      await readQuietly(db, timeoutMs, (tx) => countRows(tx, query)).then(
        (broken) => ({ rule, broken }),
        (error: unknown) => ({ rule, broken: null, code: errorCode(error) }),
      ),
    )
  }
  return checked
}
