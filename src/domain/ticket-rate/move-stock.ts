import { sql } from 'drizzle-orm'
import { preparedSql } from '../../data/prepared.ts'
import type { Connection } from '../../database/database.ts'
import { lockedStock, movedStock } from './locked-stock.ts'
import { stock } from './table.ts'

/** Deltas for the counters of a rate or a price. */
export type StockMove = { id: string; held: number; sold: number }

/** Sums up the deltas for the rates and prices of these tickets, given the delta of one ticket. */
export function stockMoves(
  tickets: { ticketRateId: string; priceId: string }[],
  { held = 0, sold = 0 }: { held?: number; sold?: number },
): StockMove[] {
  const counts = new Map<string, number>()
  for (const { ticketRateId, priceId } of tickets)
    for (const id of [ticketRateId, priceId]) counts.set(id, (counts.get(id) ?? 0) + 1)
  return [...counts].map(([id, count]) => ({ id, held: held * count, sold: sold * count }))
}

/** A rate or a price that was just used up, or became available again. */
export type StockFlip = { id: string; usedUp: boolean }

const parameter = sql.placeholder
const moves = sql`unnest(${parameter('ids')}::text[], ${parameter('held')}::integer[], ${parameter('sold')}::integer[]) as moves(id, held, sold)`
const delta = { held: sql.raw('moves.held'), sold: sql.raw('moves.sold') }

// `left` is null for unlimited stock, which therefore never flips.
const movement = preparedSql<StockFlip & { flipped: boolean }>(
  'move_stock',
  () => sql`
  with locked as (${lockedStock('ids', 'wait')}),
  fitting as (
    select bool_and(unlimited or moves.held + moves.sold <= "left") as fits
    from ${moves} join locked using (id)
  )
  update ${stock} set ${movedStock(delta)}
  from ${moves} join locked using (id), fitting where ${stock.id} = moves.id and fitting.fits
  returning ${stock.id}, "left" = moves.held + moves.sold as "usedUp",
    coalesce(("left" = moves.held + moves.sold) <> ("left" = 0), false) as flipped`,
)

/** Moves the counters of rates and prices: all of them, or none if a capacity does not allow it, and then
 *  returns null. Returns those that flipped between used up and available: pass them to `recordAvailability`.
 *  Rows are locked in order of their ids, which prevents deadlocks. Call it late in a transaction, because sales wait for these locks. */
export async function moveStock(tx: Connection, moves: StockMove[]): Promise<StockFlip[] | null> {
  if (moves.length === 0) return []
  const moved = await movement(tx, {
    ids: moves.map(({ id }) => id),
    held: moves.map(({ held }) => held),
    sold: moves.map(({ sold }) => sold),
  })
  if (moved.length === 0) return null
  return moved.filter(({ flipped }) => flipped).map(({ id, usedUp }) => ({ id, usedUp }))
}
