import { type SQL, sql } from 'drizzle-orm'
import { check, integer, type PgColumn, pgEnum, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Mode } from '../caller/mode.ts'
import { isInMode } from '../caller/sale-rows.ts'
import { modeColumn } from '../caller/table.ts'

export const stockKind = pgEnum('stock_kind', ['rate', 'price', 'discount'])

/** Stock counters of a ticket rate, a price or a discount, in each mode. Separate from the catalogue rows, so that
 *  sales never write to rows that the listing of events reads. */
export const stock = pgTable(
  'stock',
  {
    organizationId: text('organization_id').notNull(),
    kind: stockKind().notNull(),
    /** Identifier of the rate, price or discount. */
    id: text().notNull(),
    mode: modeColumn(),
    /** Total number of places; null if unlimited. */
    capacity: integer(),
    /** Sold elsewhere before the import: these places have no tickets here. */
    soldBefore: integer('sold_before').notNull().default(0),
    sold: integer().notNull().default(0),
    held: integer().notNull().default(0),
  },
  (stock) => [
    primaryKey({ columns: [stock.id, stock.mode, stock.kind, stock.organizationId] }),
    check(
      'stock_never_negative',
      sql`${stock.soldBefore} >= 0 and ${stock.sold} >= 0 and ${stock.held} >= 0`,
    ),
    check(
      'stock_never_oversold',
      sql`${stock.capacity} is null or ${stock.soldBefore} + ${stock.sold} + ${stock.held} <= ${stock.capacity}`,
    ),
  ],
)

export type StockKind = (typeof stockKind.enumValues)[number]
export type Stock = typeof stock.$inferSelect

/** Name of a counter among those of an organization in a mode. */
export type StockName = Pick<Stock, 'kind' | 'id'>

/** Key of a counter among those of an organization in a mode: a rate and a price may have one identifier. */
export const nameOf = ({ kind, id }: StockName): string => `${kind} ${id}`

/** Counter that was just used up, or became available again. */
export type StockFlip = StockName & { usedUp: boolean }

export type Counters = Pick<Stock, 'capacity' | 'soldBefore' | 'sold' | 'held'>

/** Places left after sales and holds; null if unlimited. */
export const leftOf = ({ capacity, soldBefore, sold, held }: Counters): number | null =>
  capacity === null ? null : capacity - soldBefore - sold - held

/** The same in SQL, of a row of `stock`. */
export const left = sql`${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held}`

/** Places sold, here and elsewhere before the import. */
export const soldOf = ({ soldBefore, sold }: Pick<Counters, 'soldBefore' | 'sold'>) => soldBefore + sold

/** Reports whether no place is left. */
export const isUsedUp = (stock: Counters): boolean => leftOf(stock) === 0

/** Condition that counters are those of a row, in the mode of the statement. */
export const isStockOf = (kind: StockKind, id: PgColumn): SQL =>
  sql`${stock.id} = ${id} and ${stock.kind} = ${sql.raw(`'${kind}'`)} and ${isInMode(stock.mode)}`

/** Name of a rate in a mode, for queues and announcements. */
export const rateInMode = (mode: Mode, id: string): string => `${mode} ${id}`

const { capacity, soldBefore, sold, held } = stock
/** Stock counters, to be read along with a rate or a price. */
export const counterColumns = { capacity, soldBefore, sold, held }
