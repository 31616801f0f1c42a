import { percentageOf, smallestCharge, toMajor } from '../../shared/money.ts'
import type { Event } from '../event/table.ts'
import type { Price, Stock, TicketRate } from './table.ts'

type Counted = Pick<Stock, 'capacity' | 'soldBefore' | 'sold' | 'held'>

/** Places left after sales and holds; null if unlimited. */
export const leftOf = ({ capacity, soldBefore, sold, held }: Counted): number | null =>
  capacity === null ? null : capacity - soldBefore - sold - held

/** Places sold, here and elsewhere before the import. */
export const soldOf = ({ soldBefore, sold }: Pick<Counted, 'soldBefore' | 'sold'>): number =>
  soldBefore + sold

const isUsedUp = (stock: Counted) => leftOf(stock) === 0

/** Reports whether a price can be bought: not removed, not past `validUntil`, not used up (DECISIONS 3). */
export const isBuyable = (price: Price, now: Date): boolean =>
  !price.removed &&
  (price.validUntil === null || price.validUntil.getTime() > now.getTime()) &&
  !isUsedUp(price)

/** Finds the price at which a rate is sold: the first of `prices`, in order of position, that can be bought.
 *  Null if there is none (DECISIONS 3). */
export const currentPrice = (prices: readonly Price[], now: Date): Price | null =>
  prices.find((price) => isBuyable(price, now)) ?? null

type Fee = Pick<Price, 'feeType' | 'feeQuantity' | 'currency'>

/** Returns the fee that the organization adds to what a discount leaves of a price, in minor units. */
export const feeOf = ({ feeType, feeQuantity, currency }: Fee, discounted: number): number =>
  feeType === 'fixed' ? feeQuantity : percentageOf(discounted, feeQuantity, smallestCharge(currency))

/** Returns the quantity of a fee as clients see it: a percentage, or an amount in major units. */
export const shownFee = ({ feeType, feeQuantity, currency }: Fee): number =>
  feeType === 'fixed' ? toMajor(feeQuantity, currency) : feeQuantity

/** Selects the prices to show to a client: all, or only the current one (`show_all_prices`, DECISIONS 3). */
export function visiblePrices(
  rate: Pick<TicketRate, 'showAllPrices'>,
  prices: readonly Price[],
  now: Date,
): Price[] {
  if (rate.showAllPrices) return [...prices]
  const current = currentPrice(prices, now)
  return current ? [current] : []
}

/** Reports whether a rate can be bought now: on sale, not closed, not used up, with a current price, and
 *  before the event begins (DECISIONS 3). */
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
