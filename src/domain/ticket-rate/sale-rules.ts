import { type SQL, sql } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import type { Problem } from '../../engine/base/errors.ts'
import { percentageOf, smallestCharge, toMajor } from '../../engine/base/money.ts'
import { hourMs } from '../../engine/base/timers.ts'
import { type Code, problem } from '../contract/problem-codes.ts'
import { type Event, events } from '../event/table.ts'
import { isStockOf, isUsedUp, left, type StockKind, stock } from '../stock/table.ts'
import { maxWarrantyHours, type Price, prices, type TicketRate, ticketRates } from './table.ts'

/** Reports whether a price can be bought: not removed, not past `validUntil`, not used up (DECISIONS, listing events). */
export const isBuyable = (price: Price, now: Date): boolean =>
  !price.removed &&
  (price.validUntil === null || price.validUntil.getTime() > now.getTime()) &&
  !isUsedUp(price)

/** Finds the price at which a rate is sold: the first of `prices`, in order of position, that can be bought.
 *  Null if there is none (DECISIONS, listing events). */
export const currentPrice = (prices: readonly Price[], now: Date): Price | null =>
  prices.find((price) => isBuyable(price, now)) ?? null

type Fee = Pick<Price, 'feeType' | 'feeQuantity' | 'currency'>

/** Returns the fee that the organization adds to what a discount leaves of a price, in minor units. */
export const feeOf = ({ feeType, feeQuantity, currency }: Fee, discounted: number): number =>
  feeType === 'fixed' ? feeQuantity : percentageOf(discounted, feeQuantity, smallestCharge(currency))

/** Amount that a buyer pays at a price, with its fee, before any discount, in minor units. */
export const totalAmountOf = (price: Price): number => price.amount + feeOf(price, price.amount)

/** Returns the quantity of a fee as clients see it: a percentage, or an amount in major units. */
export const shownFee = ({ feeType, feeQuantity, currency }: Fee): number =>
  feeType === 'fixed' ? toMajor(feeQuantity, currency) : feeQuantity

/** Selects the prices to show to a client: all, or only the current one (`show_all_prices`, DECISIONS, listing events). */
export function visiblePrices(rate: Pick<TicketRate, 'showAllPrices'>, prices: readonly Price[], now: Date) {
  if (rate.showAllPrices) return [...prices]
  const current = currentPrice(prices, now)
  return current ? [current] : []
}

/** Reports that fewer places are available than requested. `subject` is the rate or price that has too few. */
export const availabilityProblem = (available: number, subject: string, path: (string | number)[]) =>
  available === 0
    ? problem('SOLD_OUT', `The ${subject} is sold out.`, path, { available })
    : problem('INSUFFICIENT_AVAILABILITY', `The ${subject} has ${available} left.`, path, { available })

const path = ['ticketRateId']
type Dates = Pick<Event, 'startDate' | 'endDate'>

/** Finds why nobody can buy a rate now, whatever is left of it: it is closed, its event has started, or it is not on sale
 *  yet. `untilEnd` where the organization itself sells or gives away, until the event ends (DECISIONS, listing events;
 *  DECISIONS, sales at the door and invitations). */
export function whyClosed(rate: TicketRate, { startDate, endDate }: Dates, now: Date, untilEnd = false) {
  if (rate.complete || rate.removed) return problem('RATE_CLOSED', 'The ticket rate is closed.', path)
  if (!untilEnd && startDate <= now)
    return problem('EVENT_STARTED', 'The event has started and is no longer on sale.', path, {
      startDate: startDate.toISOString(),
    })
  if (endDate <= now)
    return problem('SALE_ENDED', 'The event has ended.', path, { validUntil: endDate.toISOString() })
  if (rate.validFrom && rate.validFrom > now)
    return problem('NOT_ON_SALE_YET', 'The ticket rate is not on sale yet.', path, {
      validFrom: rate.validFrom.toISOString(),
    })
  return null
}

/** Finds why none of a rate's prices can be bought. */
export function whyUnpriced(prices: readonly Price[], now: Date): Problem | null {
  if (currentPrice(prices, now)) return null
  if (prices.length === 0) return problem('RATE_CLOSED', 'The ticket rate has no price yet.', path)
  const ends = prices.map(({ validUntil }) => validUntil?.getTime() ?? Number.POSITIVE_INFINITY)
  const last = Math.max(...ends)
  if (last > now.getTime()) return availabilityProblem(0, 'ticket rate', path)
  const facts = { validUntil: new Date(last).toISOString() }
  return problem('SALE_ENDED', 'The sale of this ticket rate has ended.', path, facts)
}

/** Time at which a warranty ends: some hours before the event begins. */
export const warrantyEnd = (
  { startDate }: Pick<Event, 'startDate'>,
  { warrantyHours }: Pick<TicketRate, 'warrantyHours'>,
) => new Date(startDate.getTime() - Math.min(warrantyHours, maxWarrantyHours) * hourMs)

/** Whether a rate can be bought, or why not. */
export const rateStatuses = {
  ON_SALE: 'It can be bought now.',
  NOT_YET: 'The sale has not started: see `validFrom`.',
  SOLD_OUT: 'No places are left, or none at any price. Places may come back.',
  PAUSED: 'Reserved for a sale that the organization has paused.',
  CLOSED: 'The sale was closed by hand, or the rate has no price.',
  ENDED: 'The event has started, or the sale has ended.',
}
export type RateStatus = keyof typeof rateStatuses

const statusOf: Partial<Record<Code, RateStatus>> = {
  NOT_ON_SALE_YET: 'NOT_YET',
  SOLD_OUT: 'SOLD_OUT',
  RATE_CLOSED: 'CLOSED',
  EVENT_STARTED: 'ENDED',
  SALE_ENDED: 'ENDED',
}

/** Tells whether a buyer can buy a rate now, or why not (DECISIONS, listing events). */
export function rateStatus(rate: TicketRate, event: Dates, prices: readonly Price[], now: Date): RateStatus {
  const soldOut = isUsedUp(rate) ? availabilityProblem(0, 'ticket rate', path) : null
  const problem = whyClosed(rate, event, now) ?? whyUnpriced(prices, now) ?? soldOut
  return problem ? (statusOf[problem.code as Code] ?? 'CLOSED') : 'ON_SALE'
}

/** Reports whether a buyer can buy a rate now. */
export const isAvailable = (...sale: Parameters<typeof rateStatus>): boolean =>
  rateStatus(...sale) === 'ON_SALE'

const isLeft = sql`${left} is distinct from 0`

/** Condition that `rateStatus` is `ON_SALE` for a rate of an event, in the mode of the statement. With `exists` it reads the
 *  rates of each event that it is asked about, whatever the planner expects; with `in` its subqueries are not
 *  correlated, which a distributed database would refuse. */
export const isOnSale = (by: 'exists' | 'in'): SQL => {
  const has = (id: PgColumn, parent: PgColumn, rows: SQL) =>
    by === 'in'
      ? sql`${id} in (select ${parent} ${rows})`
      : sql`exists (select ${rows} and ${parent} = ${id} offset 0)`
  const counters = (kind: StockKind, id: PgColumn) =>
    by === 'in'
      ? sql`join ${stock} on ${isStockOf(kind, id)}`
      : sql`cross join lateral (select * from ${stock} where ${isStockOf(kind, id)} offset 0) as ${stock}`
  const isPriced = sql`from ${prices} ${counters('price', prices.id)}
    where not ${prices.removed} and ${isLeft} and coalesce(${prices.validUntil} > now(), true)`
  const isSold = sql`from ${ticketRates} ${counters('rate', ticketRates.id)}
    where not ${ticketRates.complete} and not ${ticketRates.removed} and ${isLeft}
      and coalesce(${ticketRates.validFrom} <= now(), true) and ${has(ticketRates.id, prices.ticketRateId, isPriced)}`
  return sql`(${events.startDate} > now() and ${has(events.id, ticketRates.eventId, isSold)})`
}
