import type { Problem } from '../../../engine/base/errors.ts'
import { problem } from '../../contract/problem-codes.ts'
import { leftOf } from '../../stock/left.ts'
import { maxInvitations, type Ticket } from '../../ticket/table.ts'
import { availabilityProblem, whyClosed, whyUnpriced } from '../../ticket-rate/sale-rules.ts'
import { maxTickets, type TicketRate } from '../../ticket-rate/table.ts'
import type { Terms } from './terms-loaders.ts'

type SaleType = Ticket['saleType']

function checkCount(rate: TicketRate, count: number, saleType: SaleType): Problem[] {
  const isGiven = saleType === 'invitation'
  const path = [isGiven ? 'guests' : 'tickets']
  // The limits per checkout are for buyers: an organization gives away as many tickets as it likes.
  const min = isGiven ? 1 : (rate.min ?? 1)
  const max = isGiven ? maxInvitations : Math.min(rate.max ?? maxTickets, maxTickets)
  if (count < min)
    return [problem('TOO_FEW_TICKETS', `A checkout takes at least ${min}.`, path, { min, max })]
  if (count > max)
    return [problem('TOO_MANY_TICKETS', `A checkout takes at most ${max}.`, path, { min, max })]
  const left = leftOf(rate)
  return left !== null && left < count ? [availabilityProblem(left, 'ticket rate', path)] : []
}

/** Checks that `count` tickets of a rate can be sold now: the rate is open, its event has not started (at the
 *  box office: not ended), it is on sale, and it has stock (DECISIONS, sales at the door
 *  and invitations). */
export function checkSale({ rate, prices }: Terms, count: number, now: Date, saleType: SaleType) {
  const closed = whyClosed(rate, rate, now, saleType !== 'online')
  return closed ? [closed] : [whyUnpriced(prices, now) ?? [], checkCount(rate, count, saleType)].flat()
}
