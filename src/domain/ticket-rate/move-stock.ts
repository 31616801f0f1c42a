import { type SQL, sql } from 'drizzle-orm'
import { arrayRows } from '../../data/array-params.ts'
import { anyOf, inOrganization, preparedSql } from '../../data/prepared.ts'
import type { Connection } from '../../database/database.ts'
import { announceOnCommit } from '../../database/transaction.ts'
import type { Mode } from '../../shared/mode.ts'
import { stock, stockId } from './table.ts'

/** Condition that counters are of the organization of a statement. */
export const isOfOrganization = inOrganization(stock.organizationId)

/** Row-locks counters that match a condition and computes what is `left` of each. For use as a CTE named
 *  `locked`, in a statement that changes them. Rows are locked in order of their ids, which prevents
 *  deadlocks; rows locked by others are waited for, or skipped. */
export const lockedStock = (ids: string, onLocked: 'wait' | 'skip', condition: SQL): SQL => sql`
  select ${stock.id}, ${stock.capacity}, ${stock.soldBefore}, ${stock.sold}, ${stock.held},
    ${stock.capacity} is null as unlimited,
    ${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held} as "left"
  from ${stock} where ${condition} and ${anyOf(stock.id, ids)}
  order by ${stock.id} for update ${sql.raw(onLocked === 'skip' ? 'skip locked' : '')}`

/** Sets counters to their `locked` values plus the deltas. Sets all of them, because PostgreSQL first builds
 *  the new row from the statement's snapshot and checks its constraints, and only then sees the current row:
 *  with stale counters that others have lowered since, the check would fail. */
export const movedStock = (delta: { held: SQL; sold: SQL }): SQL => sql`
  capacity = locked.capacity, sold_before = locked.sold_before,
  sold = locked.sold + ${delta.sold}, held = locked.held + ${delta.held}`

/** Deltas for the counters of a rate, a price or a discount, by the id of its stock. */
export type StockMove = { id: string; held: number; sold: number }

/** Sums up the deltas for the rates, prices and discounts of these tickets, each in its mode, given the delta
 *  of one ticket. */
export function stockMoves(
  tickets: { ticketRateId: string; priceId: string; discountId: string | null; mode: Mode }[],
  { held = 0, sold = 0 }: { held?: number; sold?: number },
): StockMove[] {
  const counts = new Map<string, number>()
  const count = (id: string) => counts.set(id, (counts.get(id) ?? 0) + 1)
  for (const { ticketRateId, priceId, discountId, mode } of tickets) {
    count(stockId(mode, ticketRateId))
    count(stockId(mode, priceId))
    if (discountId !== null) count(stockId(mode, discountId))
  }
  return [...counts].map(([id, count]) => ({ id, held: held * count, sold: sold * count }))
}

/** Id of the stock of a rate, a price or a discount that was just used up, or became available again. */
export type StockFlip = { id: string; usedUp: boolean }

const { rows: moves, cells, values } = arrayRows('moves', { id: 'text', held: 'integer', sold: 'integer' })
const delta = { held: sql`${cells.held}`, sold: sql`${cells.sold}` }
const change = sql`${delta.held} + ${delta.sold}`

// `left` is null for unlimited stock, which therefore never flips.
const movement = preparedSql<StockFlip & { flipped: boolean }>(
  'move_stock',
  () => sql`
  with locked as (${lockedStock('moves_id', 'wait', isOfOrganization)}),
  fitting as (
    select bool_and(unlimited or ${change} <= "left") as fits
    from ${moves} join locked using (id)
  )
  update ${stock} set ${movedStock(delta)}
  from ${moves} join locked using (id), fitting
  where ${isOfOrganization} and ${stock.id} = moves.id and fitting.fits
  returning ${stock.id}, "left" = ${change} as "usedUp",
    coalesce(("left" = ${change}) <> ("left" = 0), false) as flipped`,
)

/** Moves the counters of an organization's rates, prices and discounts: all of them, or none if a capacity
 *  does not allow it, and then returns null. Returns those that flipped between used up and available: pass
 *  them to `recordAvailability`. Rows are locked in order of their ids, which prevents deadlocks. Call it
 *  late in a transaction, because sales wait for these locks. */
export async function moveStock(
  tx: Connection,
  organizationId: string,
  moves: StockMove[],
): Promise<StockFlip[] | null> {
  if (moves.length === 0) return []
  const moved = await movement(tx, { organizationId, ...values(moves) })
  if (moved.length === 0) return null
  announceOnCommit(
    tx,
    'stock',
    moves.map(({ id }) => id),
  )
  return moved.filter(({ flipped }) => flipped).map(({ id, usedUp }) => ({ id, usedUp }))
}
