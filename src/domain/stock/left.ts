import { sql } from 'drizzle-orm'
import { type Counters, stock } from './table.ts'

/** Places left after sales and holds; null if unlimited. */
export const leftOf = ({ capacity, soldBefore, sold, held }: Counters): number | null =>
  capacity === null ? null : capacity - soldBefore - sold - held

/** The same in SQL, of a row of `stock`. */
export const left = sql`${stock.capacity} - ${stock.soldBefore} - ${stock.sold} - ${stock.held}`

/** Places sold, here and elsewhere before the import. */
export const soldOf = ({ soldBefore, sold }: Pick<Counters, 'soldBefore' | 'sold'>) => soldBefore + sold

/** Reports whether no place is left. */
export const isUsedUp = (stock: Counters): boolean => leftOf(stock) === 0
