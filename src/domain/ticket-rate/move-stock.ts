import { sql } from 'drizzle-orm'
import { preparedSql } from '../../data/prepared.ts'
import type { Connection } from '../../database/database.ts'
import { lockedStock, movedStock } from './locked-stock.ts'
import { stock } from './table.ts'

/** How the counters of a rate or a price change. */
export type StockMove = { id: string; held: number; sold: number }

/** How the counters of their rates and prices change when each of these tickets changes them by `change`. */
export function stockMoves(
  tickets: { ticketRateId: string; priceId: string }[],
  { held = 0, sold = 0 }: { held?: number; sold?: number },
): StockMove[] {
  const counts = new Map<string, number>()
  for (const { ticketRateId, priceId } of tickets)
    for (const id of [ticketRateId, priceId]) counts.set(id, (counts.get(id) ?? 0) + 1)
  return [...counts].map(([id, count]) => ({ id, held: held * count, sold: sold * count }))
}

/** A rate or a price that has been used up, or is free again. */
export type StockFlip = { id: string; usedUp: boolean }

const named = sql.placeholder
const moves = sql`unnest(${named('ids')}::text[], ${named('held')}::integer[], ${named('sold')}::integer[]) as moves(id, held, sold)`
const added = { held: sql.raw('moves.held'), sold: sql.raw('moves.sold') }

// Nothing is left of the unlimited, not even none: they never turn.
const movement = preparedSql<StockFlip & { flipped: boolean }>(
  'move_stock',
  () => sql`
  with locked as (${lockedStock('ids', 'wait')}),
  fitting as (
    select bool_and(unlimited or moves.held + moves.sold <= "left") as fits
    from ${moves} join locked using (id)
  )
  update ${stock} set ${movedStock(added)}
  from ${moves} join locked using (id), fitting where ${stock.id} = moves.id and fitting.fits
  returning ${stock.id}, "left" = moves.held + moves.sold as "usedUp",
    coalesce(("left" = moves.held + moves.sold) <> ("left" = 0), false) as flipped`,
)

/** Moves the counters of rates and prices, all of them or, where the capacity of one doesn't allow it, none: null then.
 *  Else gives those that this used up or freed: `touchCatalogue` once it is committed, if there are any. Rows are locked in
 *  the order of their ids, so that two never wait for each other. To be called late in a transaction: the locks are
 *  what a sale waits for. */
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
