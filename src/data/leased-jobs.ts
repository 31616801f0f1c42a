import { type SQL, sql } from 'drizzle-orm'
import { integer, type PgColumn, type PgTable, text, timestamp } from 'drizzle-orm/pg-core'
import type { Connection } from '../database/database.ts'

/** What each row has that stands for work to be done outside of requests.
 *  It is due as long as its status is `pending`. */
export const dueColumns = () => ({
  /** How often it was begun. */
  attempts: integer().notNull().default(0),
  /** When it is to be done, or done again. Whoever takes it moves this on: if the process dies,
   *  another takes it then. */
  dueAt: timestamp('due_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  /** What went wrong the last time: a code or a status, and nothing of a person. */
  lastError: text('last_error'),
})

/** The present as columns keep it, for what is compared with them: they round to milliseconds, so what is due right now
 *  may be due half of one ahead of the clock. */
export const nowMs = sql`now()::timestamptz(3)`

type DueTable = PgTable & { status: PgColumn; dueAt: PgColumn; attempts: PgColumn }

/** Takes up to `limit` rows that are due, those that wait longest first, for so many seconds: until then no other
 *  process takes them. Gives their rows, of which no two processes have the same. */
export function claimDue<Table extends DueTable>(
  db: Connection,
  table: Table,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<Table['$inferSelect'][]> {
  const row = sql.raw('ctid')
  const taken = sql`(select ${row} from ${table} where ${table.status} = 'pending' and ${table.dueAt} <= ${nowMs}
    order by ${table.dueAt} limit ${limit} for update skip locked)`
  return db
    .update(table)
    .set({
      attempts: sql`${table.attempts} + 1`,
      dueAt: inSeconds(leaseSeconds),
    } as never)
    .where(sql`${row} = any(array${taken})`)
    .returning() as unknown as Promise<Table['$inferSelect'][]>
}

/** So many seconds from now, by the database's clock. */
export const inSeconds = (seconds: number): SQL => sql`now() + ${seconds} * interval '1 second'`

/** Seconds until the next try after so many: twice as long each time from `first` to `most`, and somewhere in the upper
 *  half of that, so that what failed together does not come back together. */
export const backoff = (attempts: number, { first, most }: { first: number; most: number }): number =>
  Math.min(most, first * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)
