import { type Problem, problem } from '../../../shared/errors.ts'
import { maxTickets } from '../../ticket/table.ts'
import { currentPrice, leftOf } from '../../ticket-rate/current-price.ts'
import type { Price, TicketRate } from '../../ticket-rate/table.ts'
import type { Terms } from './terms-loaders.ts'

/** Reports that fewer places are available than requested. `subject` is the rate or price that has too
 *  few. */
export const availabilityProblem = (
  available: number,
  subject: string,
  path: (string | number)[],
): Problem =>
  available === 0
    ? problem('SOLD_OUT', `The ${subject} is sold out.`, path, { available })
    : problem('INSUFFICIENT_AVAILABILITY', `The ${subject} has ${available} left.`, path, { available })

function checkPrices(prices: Price[], now: Date, path: string[]): Problem[] {
  if (currentPrice(prices, now)) return []
  const isInTime = prices.some((price) => !price.validUntil || price.validUntil > now)
  if (isInTime) return [availabilityProblem(0, 'ticket rate', path)]
  const last = Math.max(...prices.map((price) => price.validUntil?.getTime() ?? 0))
  const facts = prices.length > 0 ? { validUntil: new Date(last).toISOString() } : {}
  return [problem('SALE_ENDED', 'The sale of this ticket rate has ended.', path, facts)]
}

function checkCount(rate: TicketRate, count: number): Problem[] {
  const path = ['tickets']
  const min = rate.min ?? 1
  const max = Math.min(rate.max ?? maxTickets, maxTickets)
  if (count < min) return [problem('MIN_TICKETS', `A checkout takes at least ${min}.`, path, { min, max })]
  if (count > max) return [problem('MAX_TICKETS', `A checkout takes at most ${max}.`, path, { min, max })]
  const left = leftOf(rate)
  return left !== null && left < count ? [availabilityProblem(left, 'ticket rate', path)] : []
}

/** Checks that `count` tickets of a rate can be sold now: the rate is open, its event has not started, it is
 *  on sale, and it has stock (DECISIONS 4). */
export function checkSale({ rate, event, prices }: Terms, count: number, now: Date): Problem[] {
  const path = ['ticketRateId']
  if (rate.complete || rate.removed) return [problem('RATE_CLOSED', 'The ticket rate is closed.', path)]
  if (event.startDate <= now) {
    const facts = { startDate: event.startDate.toISOString() }
    return [problem('EVENT_STARTED', 'The event has started and is no longer on sale.', path, facts)]
  }
  if (rate.validFrom && rate.validFrom > now) {
    const facts = { validFrom: rate.validFrom.toISOString() }
    return [problem('NOT_ON_SALE_YET', 'The ticket rate is not on sale yet.', path, facts)]
  }
  return [...checkPrices(prices, now, path), ...checkCount(rate, count)]
}
