import { z } from 'zod'
import type { Context } from '../../../request/context.ts'
import { refuseIf } from '../../../shared/errors.ts'
import { maxInvitations } from '../../ticket/table.ts'
import { availabilityProblem, isBuyable, leftOf } from '../../ticket-rate/sale-rules.ts'
import type { Price } from '../../ticket-rate/table.ts'
import { checkSale } from '../checkout/check-sale.ts'
import { checkoutInput, ticketInput } from '../checkout/checkout-input.ts'
import { type CheckoutPlan, planOf } from '../checkout/plan-checkout.ts'
import { type PricedTicket, priceTicket } from '../checkout/price-tickets.ts'
import type { CheckoutAnswer } from '../checkout/sell-tickets.ts'
import type { Terms } from '../checkout/terms-loaders.ts'
import { sellThroughOwnChannel } from './sell-at-box-office.ts'

const { fullName, email, phone } = ticketInput.shape
const { ticketRateId, language, idempotencyKey } = checkoutInput.shape

/** A guest of invitations. */
export const invitationInput = z
  .strictObject({
    fullName,
    email,
    phone,
    language: language.describe(
      'Language that the guest is addressed in, as a BCP 47 tag; that of the organization if omitted.',
    ),
  })
  .describe('Guest who is given a ticket.')
type Invitation = z.output<typeof invitationInput>

/** Input of invitations: tickets of one rate, each for a guest. */
export const invitationsInput = z
  .strictObject({
    ticketRateId,
    invitations: z.array(invitationInput).describe(`Guests, one ticket for each; at most ${maxInvitations}.`),
    sendResourcers: z.boolean().nullish().describe('True to send the tickets to the guests.'),
    idempotencyKey,
  })
  .describe('Tickets of one rate that are given away.')

type InvitationsInput = z.output<typeof invitationsInput>

// Prices whose places the guests take: the current one, and the next ones once it is used up.
const choosePrices = (prices: Price[], count: number, now: Date): Price[] =>
  prices
    .filter((price) => isBuyable(price, now))
    .flatMap((price) => new Array<Price>(Math.min(leftOf(price) ?? count, count)).fill(price))
    .slice(0, count)

const free = { amount: 0, feeType: 'percentage', feeQuantity: 0 } as const

// A guest pays nothing, whatever the price.
function toTicket(guest: Invitation, price: Price, terms: Terms): PricedTicket {
  const entry = { priceId: price.id, ...guest }
  return { ...priceTicket(entry, { ...price, ...free }, terms, { id: null, amount: 0 }), price }
}

/** Plans invitations by the database's clock and counters, and holds nothing. Guests take places of the rate
 *  and of its prices like buyers, and pay nothing; questions, ages and the limits per checkout are not asked.
 *  Refuses: RATE_CLOSED, NOT_ON_SALE_YET, SALE_ENDED, MIN_TICKETS, MAX_TICKETS, SOLD_OUT,
 *  INSUFFICIENT_AVAILABILITY. */
function planInvitations({ invitations }: InvitationsInput, terms: Terms, now: Date): CheckoutPlan {
  refuseIf(checkSale(terms, invitations.length, now, 'invitation'))
  const chosen = choosePrices(terms.prices, invitations.length, now)
  if (chosen.length < invitations.length)
    refuseIf([availabilityProblem(chosen.length, 'ticket rate', ['invitations'])])
  const tickets = chosen.flatMap((price, index) => {
    const guest = invitations[index]
    return guest ? [toTicket(guest, price, terms)] : []
  })
  return planOf(terms, tickets)
}

/** Gives tickets of one rate away for the integration's organization, all or none, until the event ends. They
 *  take places, cost nothing and are active at once; `sendResourcers` sends them.
 *  Refuses: FORBIDDEN, NOT_FOUND, whatever planInvitations and holdExactly refuse, IDEMPOTENCY_KEY_REUSED, BUSY
 *  (DECISIONS 9). */
export const issueInvitations = (input: InvitationsInput, ctx: Context): Promise<CheckoutAnswer> =>
  sellThroughOwnChannel('invitation', input, (terms) => planInvitations(input, terms, ctx.now), ctx)
