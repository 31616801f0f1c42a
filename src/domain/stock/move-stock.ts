import { sql } from 'drizzle-orm'
import { arrayRows } from '../../engine/data/array-params.ts'
import { anyOf, inOrganization, query } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { announceOnCommit } from '../../engine/database/transaction.ts'
import type { Mode } from '../caller/mode.ts'
import { isInMode } from '../caller/sale-rows.ts'
import { recordAvailability } from '../ticket-rate/record-availability.ts'
import { left, nameOf, rateInMode, type StockFlip, type StockKind, type StockName, stock } from './table.ts'

/** Deltas for the counters of a rate, a price or a discount. */
export type StockMove = StockName & { held: number; sold: number }

/** Sums up the deltas for the rates, prices and discounts of these tickets, which are of one mode, given the delta
 *  of one ticket. */
export function stockMoves(
  tickets: { ticketRateId: string; priceId: string; discountId: string | null }[],
  { held = 0, sold = 0 }: { held?: number; sold?: number },
): StockMove[] {
  const moves = new Map<string, StockMove>()
  const count = (kind: StockKind, id: string) => {
    const key = nameOf({ kind, id })
    const move = moves.get(key) ?? { kind, id, held: 0, sold: 0 }
    moves.set(key, { ...move, held: move.held + held, sold: move.sold + sold })
  }
  for (const { ticketRateId, priceId, discountId } of tickets) {
    count('rate', ticketRateId)
    count('price', priceId)
    if (discountId !== null) count('discount', discountId)
  }
  return [...moves.values()]
}

const moved = arrayRows('moves', { kind: 'stock_kind', id: 'text', held: 'integer', sold: 'integer' })
const { held, sold, id, kind } = moved.cells
const change = sql`${held} + ${sold}`
const isMoved = sql`locked.id = ${id} and locked.kind = ${kind}`

const isOfSale = sql`${inOrganization(stock.organizationId)} and ${isInMode(stock.mode)}`

// Rows are locked in order of their ids, which prevents deadlocks. Sets all counters to their `locked` values plus
// the deltas, because PostgreSQL first builds the new row from the statement's snapshot and checks its constraints, and
// only then sees the current row: with stale counters that others have lowered since, the check would fail. `left` is
// null for unlimited stock, which therefore never flips.
const movement = query<StockFlip & { flipped: boolean }>(
  'move_stock',
  () => sql`
  with locked as (
    select ${stock.kind}, ${stock.id}, ${stock.capacity}, ${stock.soldBefore}, ${stock.sold}, ${stock.held},
      ${stock.capacity} is null as unlimited,
      ${left} as "left"
    from ${stock} where ${isOfSale} and ${anyOf(stock.id, 'moves_id')}
    order by ${stock.id}, ${stock.kind} for update
  ),
  fitting as (
    select bool_and(unlimited or ${change} <= "left") as fits
    from ${moved.rows} join locked on ${isMoved}
  )
  update ${stock} set capacity = locked.capacity, sold_before = locked.sold_before,
    sold = locked.sold + ${sold}, held = locked.held + ${held}
  from ${moved.rows} join locked on ${isMoved}, fitting
  where ${isOfSale} and ${stock.id} = locked.id and ${stock.kind} = locked.kind and fitting.fits
  returning ${stock.kind}, ${stock.id}, "left" = ${change} as "usedUp",
    coalesce(("left" = ${change}) <> ("left" = 0), false) as flipped`,
)

/** Moves the counters of an organization's rates, prices and discounts in a mode: all of them, or none if a capacity
 *  does not allow it, and then returns false. Records which rates that uses up or makes available. Rows are locked in
 *  order of their ids, which prevents deadlocks. Call it late in a transaction, because sales wait for these locks. */
export async function moveStock(tx: Connection, organizationId: string, mode: Mode, moves: StockMove[]) {
  if (moves.length === 0) return true
  const counters = await movement(tx, { organizationId, mode, ...moved.values(moves) })
  if (counters.length === 0) return false
  const rates = moves.flatMap(({ kind, id }) => (kind === 'rate' ? rateInMode(mode, id) : []))
  announceOnCommit(tx, 'stock', rates)
  const flips = counters.filter(({ flipped }) => flipped)
  await recordAvailability(tx, organizationId, mode, flips)
  return true
}
