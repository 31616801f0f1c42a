import { type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../data/prepared.ts'
import { stock } from './table.ts'

/** Row-locks counters and computes what is `left` of each. For use as a CTE named `locked`, in a statement
 *  that changes them. Rows are locked in order of their ids, which prevents deadlocks; rows locked by others
 *  are waited for, or skipped. */
export const lockedStock = (ids: string, onLocked: 'wait' | 'skip'): SQL => sql`
  select ${stock.id}, ${stock.capacity}, ${stock.soldBefore}, ${stock.sold}, ${stock.held},
    ${stock.capacity} is null as unlimited,
    ${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held} as "left"
  from ${stock} where ${anyOf(stock.id, ids)}
  order by ${stock.id} for update ${sql.raw(onLocked === 'skip' ? 'skip locked' : '')}`

/** Sets counters to their `locked` values plus the deltas. Sets all of them, because PostgreSQL first builds
 *  the new row from the statement's snapshot and checks its constraints, and only then sees the current row:
 *  with stale counters that others have lowered since, the check would fail. */
export const movedStock = (delta: { held: SQL; sold: SQL }): SQL => sql`
  capacity = locked.capacity, sold_before = locked.sold_before,
  sold = locked.sold + ${delta.sold}, held = locked.held + ${delta.held}`
