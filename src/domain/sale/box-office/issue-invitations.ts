import { refuseIf } from '../../../engine/base/errors.ts'
import type { Context } from '../../caller/context.ts'
import { leftOf } from '../../stock/table.ts'
import type { Ticket } from '../../ticket/table.ts'
import { availabilityProblem, isBuyable } from '../../ticket-rate/sale-rules.ts'
import type { Price } from '../../ticket-rate/table.ts'
import type { CheckoutEntry } from '../checkout/checkout-input.ts'
import { type CheckoutPlan, checkSale, planOf } from '../checkout/plan-checkout.ts'
import { type PricedTicket, priceTicket } from '../checkout/price-tickets.ts'
import type { CheckoutAnswer, CheckoutOrder } from '../checkout/sell-tickets.ts'
import type { Terms } from '../checkout/terms-loaders.ts'
import { sellThroughOwnChannel } from './sell-at-box-office.ts'

type Guest = Omit<CheckoutEntry, 'priceId'> & Pick<Partial<Ticket>, 'language'>

type InvitationsInput = CheckoutOrder['input'] & { guests: Guest[] }

// Prices whose places the guests take: the current one, and the next ones once it is used up.
const choosePrices = (prices: Price[], count: number, now: Date): Price[] =>
  prices
    .filter((price) => isBuyable(price, now))
    .flatMap((price) => new Array<Price>(Math.min(leftOf(price) ?? count, count)).fill(price))
    .slice(0, count)

const free = { amount: 0, feeType: 'percentage', feeQuantity: 0 } as const

// A guest pays nothing, whatever the price.
function toTicket(guest: Guest, price: Price, terms: Terms): PricedTicket {
  const entry = { priceId: price.id, ...guest }
  return { ...priceTicket(entry, { ...price, ...free }, terms, { id: null, amount: 0 }), price }
}

/** Plans invitations by the database's clock and counters, and holds nothing. Guests take places of the rate
 *  and of its prices like buyers, and pay nothing; questions, ages and the limits per checkout are not asked.
 *  Refuses: RATE_CLOSED, NOT_ON_SALE_YET, SALE_ENDED, TOO_FEW_TICKETS, TOO_MANY_TICKETS, SOLD_OUT,
 *  INSUFFICIENT_AVAILABILITY. */
function planInvitations({ guests }: InvitationsInput, terms: Terms, now: Date): CheckoutPlan {
  refuseIf(checkSale(terms, guests.length, now, 'invitation'))
  const chosen = choosePrices(terms.prices, guests.length, now)
  if (chosen.length < guests.length) refuseIf([availabilityProblem(chosen.length, 'ticket rate', ['guests'])])
  const tickets = chosen.flatMap((price, index) => {
    const guest = guests[index]
    return guest ? [toTicket(guest, price, terms)] : []
  })
  return planOf(terms, tickets)
}

/** Gives tickets of one rate away for the integration's organization, all or none, until the event ends. They
 *  take places, cost nothing and are active at once; `sendTickets` sends them.
 *  Refuses: FORBIDDEN, NOT_FOUND, whatever planInvitations and holdExactly refuse, IDEMPOTENCY_KEY_REUSED, BUSY
 *  (DECISIONS, sales at the door and invitations). */
export function issueInvitations(input: InvitationsInput, ctx: Context): Promise<CheckoutAnswer> {
  const plan = (terms: Terms) => planInvitations(input, terms, ctx.now)
  return sellThroughOwnChannel('invitation', input, { plan, count: input.guests.length }, ctx)
}
