import { type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../../data/prepared.ts'
import { stock } from './table.ts'

/** Counters under a lock that the transaction keeps, and what is `left` of each: for a statement that calls it `locked`
 *  and changes them. They are locked in the order of their ids, so that two never wait for each other; those that
 *  somebody else has locked are waited for, or skipped. */
export const lockedStock = (ids: string, onLocked: 'wait' | 'skip'): SQL => sql`
  select ${stock.id}, ${stock.capacity}, ${stock.soldBefore}, ${stock.sold}, ${stock.held},
    ${stock.capacity} is null as unlimited,
    ${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held} as "left"
  from ${stock} where ${anyOf(stock.id, ids)}
  order by ${stock.id} for update ${sql.raw(onLocked === 'skip' ? 'skip locked' : '')}`

/** Sets counters to what is `locked` and what is added. All of them, because an update first makes its row of what
 *  there was when the statement began, checks that row, and only then looks for what is there now: counters that others
 *  have lowered meanwhile would be refused for what is over. */
export const movedStock = (added: { held: SQL; sold: SQL }): SQL => sql`
  capacity = locked.capacity, sold_before = locked.sold_before,
  sold = locked.sold + ${added.sold}, held = locked.held + ${added.held}`
