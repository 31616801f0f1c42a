import { sql } from 'drizzle-orm'
import { anyOf, written } from '../batch.ts'
import type { Connection } from '../database.ts'
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
export type Turned = { id: string; usedUp: boolean }

const column = (name: string) => sql.raw(`moves.${name}`)
const named = sql.placeholder
const moves = sql`unnest(${named('ids')}::text[], ${named('held')}::integer[], ${named('sold')}::integer[]) as moves(id, held, sold)`

// What is left now, and what was left before.
const left = sql`${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held}`
const leftBefore = sql`${left} + ${column('held')} + ${column('sold')}`

const movement = written<Turned & { turned: boolean }>(
  'move_stock',
  () => sql`
  with locked as (
    select ${stock.id}, ${stock.capacity} is null as unlimited, ${left} as "left"
    from ${stock} where ${anyOf(stock.id, 'ids')} order by ${stock.id} for update
  ),
  fitting as (
    select bool_and(locked.unlimited or moves.held + moves.sold <= locked."left") as fits
    from ${moves} join locked using (id)
  )
  update ${stock} set held = ${stock.held} + moves.held, sold = ${stock.sold} + moves.sold
  from ${moves}, fitting where ${stock.id} = moves.id and fitting.fits
  returning ${stock.id}, ${left} = 0 as "usedUp", coalesce((${left} = 0) <> (${leftBefore} = 0), false) as turned`,
)

/** Moves the counters of rates and prices, all of them or, where the capacity of one doesn't allow it, none: null then.
 *  Else gives those that this used up or freed: `touchCatalogue` once it is committed, if there are any. Rows are locked in
 *  the order of their ids, so that two never wait for each other. To be called late in a transaction: the locks are
 *  what a sale waits for. */
export async function moveStock(tx: Connection, moves: StockMove[]): Promise<Turned[] | null> {
  if (moves.length === 0) return []
  const moved = await movement(tx, {
    ids: moves.map(({ id }) => id),
    held: moves.map(({ held }) => held),
    sold: moves.map(({ sold }) => sold),
  })
  if (moved.length === 0) return null
  return moved.filter(({ turned }) => turned).map(({ id, usedUp }) => ({ id, usedUp }))
}
