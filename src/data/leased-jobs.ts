import { type SQL, sql } from 'drizzle-orm'
import { integer, type PgColumn, type PgTable, text, timestamp } from 'drizzle-orm/pg-core'
import type { Connection } from '../database/database.ts'

/** Columns that make a table a job queue. A row is a job while its status is `pending`. */
export const dueColumns = () => ({
  /** Number of times the job was started. */
  attempts: integer().notNull().default(0),
  /** Time of the next attempt. Claiming a job moves this to the end of the lease, so that another process
   *  takes over if this one dies. */
  dueAt: timestamp('due_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  /** Code or status of the last failure. Never personal data. */
  lastError: text('last_error'),
})

/** `now()` rounded to milliseconds, as `timestamptz(3)` stores it. Compare columns with this: a column set to
 *  `now()` may be rounded up to half a millisecond ahead of the clock. */
export const nowMs = sql`now()::timestamptz(3)`

type DueTable = PgTable & { status: PgColumn; dueAt: PgColumn; attempts: PgColumn }

/** Claims up to `limit` due rows, longest overdue first, under a lease of `leaseSeconds`. Until the lease
 *  ends, no other process claims them. Returns the claimed rows. */
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

/** SQL for a time that many seconds from now, by the database's clock. */
export const inSeconds = (seconds: number): SQL => sql`now() + ${seconds} * interval '1 second'`

/** Seconds until the next attempt: exponential from `first` to `max`, with jitter in the upper half, so that
 *  jobs that failed together are not retried together. */
export const backoff = (attempts: number, { first, max }: { first: number; max: number }): number =>
  Math.min(max, first * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2)
