import { type SQL, sql } from 'drizzle-orm'
import { arrayRows } from '../../data/array-params.ts'
import { anyOf, inOrganization, isInMode, preparedSql } from '../../data/prepared.ts'
import type { Connection } from '../../database/database.ts'
import { announceOnCommit } from '../../database/transaction.ts'
import type { Mode } from '../../shared/mode.ts'
import { rateInMode, type Stock, type StockKind, stock } from './table.ts'

/** Condition that counters are those of a statement: of its organization and its mode. */
export const isOfSale = sql`${inOrganization(stock.organizationId)} and ${isInMode(stock.mode)}`

/** Row-locks counters that match a condition and computes what is `left` of each. For use as a CTE named
 *  `locked`, in a statement that changes them. Rows are locked in order of their ids, which prevents
 *  deadlocks; rows locked by others are waited for, or skipped. */
export const lockedStock = (ids: string, onLocked: 'wait' | 'skip', condition: SQL): SQL => sql`
  select ${stock.kind}, ${stock.id}, ${stock.capacity}, ${stock.soldBefore}, ${stock.sold}, ${stock.held},
    ${stock.capacity} is null as unlimited,
    ${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held} as "left"
  from ${stock} where ${condition} and ${anyOf(stock.id, ids)}
  order by ${stock.id}, ${stock.kind} for update ${sql.raw(onLocked === 'skip' ? 'skip locked' : '')}`

/** Sets counters to their `locked` values plus the deltas. Sets all of them, because PostgreSQL first builds
 *  the new row from the statement's snapshot and checks its constraints, and only then sees the current row:
 *  with stale counters that others have lowered since, the check would fail. */
export const movedStock = (delta: { held: SQL; sold: SQL }): SQL => sql`
  capacity = locked.capacity, sold_before = locked.sold_before,
  sold = locked.sold + ${delta.sold}, held = locked.held + ${delta.held}`

/** Name of a counter among those of an organization in a mode. */
export type StockName = Pick<Stock, 'kind' | 'id'>

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
    const key = `${kind} ${id}`
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

/** Counter that was just used up, or became available again. */
export type StockFlip = StockName & { usedUp: boolean }

/** Announces the rates among moved counters, in a mode, when the transaction commits. */
export const announceRates = (tx: Connection, mode: Mode, moves: StockName[]): void =>
  announceOnCommit(
    tx,
    'stock',
    moves.flatMap(({ kind, id }) => (kind === 'rate' ? [rateInMode(mode, id)] : [])),
  )

const {
  rows: moves,
  cells,
  values,
} = arrayRows('moves', { kind: 'stock_kind', id: 'text', held: 'integer', sold: 'integer' })
const delta = { held: sql`${cells.held}`, sold: sql`${cells.sold}` }
const change = sql`${delta.held} + ${delta.sold}`
const isMoved = sql`locked.id = ${cells.id} and locked.kind = ${cells.kind}`

// `left` is null for unlimited stock, which therefore never flips.
const movement = preparedSql<StockFlip & { flipped: boolean }>(
  'move_stock',
  () => sql`
  with locked as (${lockedStock('moves_id', 'wait', isOfSale)}),
  fitting as (
    select bool_and(unlimited or ${change} <= "left") as fits
    from ${moves} join locked on ${isMoved}
  )
  update ${stock} set ${movedStock(delta)}
  from ${moves} join locked on ${isMoved}, fitting
  where ${isOfSale} and ${stock.id} = locked.id and ${stock.kind} = locked.kind and fitting.fits
  returning ${stock.kind}, ${stock.id}, "left" = ${change} as "usedUp",
    coalesce(("left" = ${change}) <> ("left" = 0), false) as flipped`,
)

/** Moves the counters of an organization's rates, prices and discounts in a mode: all of them, or none if a capacity
 *  does not allow it, and then returns null. Returns those that flipped between used up and available: pass
 *  them to `recordAvailability`. Rows are locked in order of their ids, which prevents deadlocks. Call it
 *  late in a transaction, because sales wait for these locks. */
export async function moveStock(
  tx: Connection,
  organizationId: string,
  mode: Mode,
  moves: StockMove[],
): Promise<StockFlip[] | null> {
  if (moves.length === 0) return []
  const moved = await movement(tx, { organizationId, mode, ...values(moves) })
  if (moved.length === 0) return null
  announceRates(tx, mode, moves)
  return moved.filter(({ flipped }) => flipped).map(({ kind, id, usedUp }) => ({ kind, id, usedUp }))
}
