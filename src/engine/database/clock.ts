import { type SQL, sql } from 'drizzle-orm'

// Every expiry is decided by the database's clock.

/** `now()` rounded to milliseconds, as `timestamptz(3)` stores it. Compare columns with this: a column set to
 *  `now()` may be rounded up to half a millisecond ahead of the clock. */
export const nowMs = sql`now()::timestamptz(3)`

/** SQL for a time that many seconds from now, by the database's clock. */
export const inSeconds = (seconds: number): SQL => sql`now() + ${seconds} * interval '1 second'`

/** SQL for a time as many seconds from now as an expression says. A Citus cluster refuses to update by a
 *  function of a column that depends on the session's time zone, as adding an interval does. */
export const secondsFromNow = (seconds: SQL): SQL =>
  sql`to_timestamp(extract(epoch from now())::float8 + ${seconds}::float8)`
