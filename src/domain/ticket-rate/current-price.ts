import type { Event } from '../event/table.ts'
import type { Price, Stock, TicketRate } from './table.ts'

type Counted = Pick<Stock, 'capacity' | 'soldBefore' | 'sold' | 'held'>

/** Places left after what is paid and what is held; null where there is no limit. */
export const leftOf = ({ capacity, soldBefore, sold, held }: Counted): number | null =>
  capacity === null ? null : capacity - soldBefore - sold - held

const isUsedUp = (stock: Counted) => leftOf(stock) === 0

/** Whether a price can be bought: listed, not past its `valid_until`, not used up (DECISIONS 3). */
export const isBuyable = (price: Price, now: Date): boolean =>
  !price.removed &&
  (price.validUntil === null || price.validUntil.getTime() > now.getTime()) &&
  !isUsedUp(price)

/** The price that a rate is sold at: the first that can be bought of `prices`, which come in their order of position.
 *  Null when there is none (DECISIONS 3). */
export const currentPrice = (prices: readonly Price[], now: Date): Price | null =>
  prices.find((price) => isBuyable(price, now)) ?? null

/** The prices that a client is shown: all of them, or the current one alone (`show_all_prices`, DECISIONS 3). */
export function listedPrices(
  rate: Pick<TicketRate, 'showAllPrices'>,
  prices: readonly Price[],
  now: Date,
): Price[] {
  if (rate.showAllPrices) return [...prices]
  const current = currentPrice(prices, now)
  return current ? [current] : []
}

/** Whether a rate can be bought now: on sale, open, something left of it, a price to buy it at, and an event that has
 *  not begun (DECISIONS 3). */
export const isAvailable = (
  rate: TicketRate,
  event: Pick<Event, 'startDate'>,
  prices: readonly Price[],
  now: Date,
): boolean =>
  !rate.complete &&
  !rate.removed &&
  (rate.validFrom === null || rate.validFrom.getTime() <= now.getTime()) &&
  event.startDate.getTime() > now.getTime() &&
  !isUsedUp(rate) &&
  currentPrice(prices, now) !== null
