import { and, asc, eq, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { anyOf } from '../batch.ts'
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

const column = (name: string) => sql.raw(`moves.${name}`)

// What is left now, and what was left before.
const left = sql`${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held}`
const leftBefore = sql`${left} + ${column('held')} + ${column('sold')}`

/** Moves the counters of rates and prices, all in one statement: one whose capacity doesn't allow it stays as it is.
 *  Returns whether that used one up, or freed one that was: then `touchCatalogue` once it is committed. Rows are locked in the order of their ids, so
 *  that two checkouts never wait for each other. To be called last in a transaction: the locks are what a sale waits
 *  for. */
export async function moveStock(tx: Connection, moves: StockMove[]): Promise<boolean> {
  const locked = tx
    .$with('locked')
    .as(
      tx
        .select({ id: stock.id })
        .from(stock)
        .where(anyOf(stock.id, 'ids'))
        .orderBy(asc(stock.id))
        .for('update'),
    )
  const fits: SQL | undefined = or(
    isNull(stock.capacity),
    lte(
      sql`${stock.soldBefore} + ${stock.sold} + ${stock.held} + ${column('sold')} + ${column('held')}`,
      stock.capacity,
    ),
  )
  const moved = await tx
    .with(locked)
    .update(stock)
    .set({ held: sql`${stock.held} + ${column('held')}`, sold: sql`${stock.sold} + ${column('sold')}` })
    .from(
      sql`${locked} join unnest(${sql.placeholder('ids')}::text[], ${sql.placeholder('held')}::integer[], ${sql.placeholder('sold')}::integer[]) as moves(id, held, sold) on moves.id = ${locked.id}`,
    )
    .where(and(eq(stock.id, locked.id), fits))
    .returning({ turned: sql<boolean>`coalesce((${left} = 0) <> (${leftBefore} = 0), false)` })
    .prepare('move_stock')
    .execute({
      ids: moves.map(({ id }) => id),
      held: moves.map(({ held }) => held),
      sold: moves.map(({ sold }) => sold),
    })
  return moved.some(({ turned }) => turned)
}
