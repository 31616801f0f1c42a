import { type Problem, problem } from '../../../shared/errors.ts'
import { maxInvitations, maxTickets, type Ticket } from '../../ticket/table.ts'
import { currentPrice, leftOf } from '../../ticket-rate/sale-rules.ts'
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
  if (prices.length === 0) return [problem('RATE_CLOSED', 'The ticket rate has no price yet.', path)]
  const ends = prices.map(({ validUntil }) => validUntil?.getTime() ?? Number.POSITIVE_INFINITY)
  const last = Math.max(...ends)
  if (last > now.getTime()) return [availabilityProblem(0, 'ticket rate', path)]
  const facts = { validUntil: new Date(last).toISOString() }
  return [problem('SALE_ENDED', 'The sale of this ticket rate has ended.', path, facts)]
}

type SaleType = Ticket['saleType']

// The limits per checkout are for buyers: an organization gives away as many tickets as it likes.
const limitsOf = ({ min, max }: TicketRate, saleType: SaleType) =>
  saleType === 'invitation'
    ? { min: 1, max: maxInvitations }
    : { min: min ?? 1, max: Math.min(max ?? maxTickets, maxTickets) }

function checkCount(rate: TicketRate, count: number, saleType: SaleType): Problem[] {
  const path = [saleType === 'invitation' ? 'invitations' : 'tickets']
  const { min, max } = limitsOf(rate, saleType)
  if (count < min) return [problem('MIN_TICKETS', `A checkout takes at least ${min}.`, path, { min, max })]
  if (count > max) return [problem('MAX_TICKETS', `A checkout takes at most ${max}.`, path, { min, max })]
  const left = leftOf(rate)
  return left !== null && left < count ? [availabilityProblem(left, 'ticket rate', path)] : []
}

/** Checks that `count` tickets of a rate can be sold now: the rate is open, its event has not started (at the
 *  box office: not ended), it is on sale, and it has stock (DECISIONS 4 and 9). */
export function checkSale(
  { rate, event, prices }: Terms,
  count: number,
  now: Date,
  saleType: SaleType,
): Problem[] {
  const path = ['ticketRateId']
  if (rate.complete || rate.removed) return [problem('RATE_CLOSED', 'The ticket rate is closed.', path)]
  // A checkout is possible until the event starts. The organization itself sells, and gives away, until it ends.
  if (saleType === 'online' && event.startDate <= now) {
    const facts = { startDate: event.startDate.toISOString() }
    return [problem('EVENT_STARTED', 'The event has started and is no longer on sale.', path, facts)]
  }
  if (event.endDate <= now) {
    const facts = { validUntil: event.endDate.toISOString() }
    return [problem('SALE_ENDED', 'The event has ended.', path, facts)]
  }
  if (rate.validFrom && rate.validFrom > now) {
    const facts = { validFrom: rate.validFrom.toISOString() }
    return [problem('NOT_ON_SALE_YET', 'The ticket rate is not on sale yet.', path, facts)]
  }
  return [...checkPrices(prices, now, path), ...checkCount(rate, count, saleType)]
}
