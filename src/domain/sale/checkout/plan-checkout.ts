import { type Problem, refuseIf } from '../../../engine/base/errors.ts'
import { compareTotal, requireAmount, toMoney } from '../../../engine/base/money.ts'
import type { Context } from '../../caller/context.ts'
import { problem, refusal } from '../../contract/problem-codes.ts'
import { findDiscount } from '../../discount/loaders.ts'
import { leftOf } from '../../stock/table.ts'
import { maxInvitations, type Ticket } from '../../ticket/table.ts'
import { priceById } from '../../ticket-rate/loaders.ts'
import {
  availabilityProblem,
  currentPrice,
  isBuyable,
  whyClosed,
  whyUnpriced,
} from '../../ticket-rate/sale-rules.ts'
import { maxTickets, type Price, type TicketRate } from '../../ticket-rate/table.ts'
import { checkEntries } from './check-entries.ts'
import type { CheckoutEntry, CheckoutInput, ExpectedTotal } from './checkout-input.ts'
import {
  checkDiscount,
  checkUses,
  discountAmountsOf,
  type PricedTicket,
  priceTicket,
} from './price-tickets.ts'
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

// A price of the rate that is no longer listed is known, too: it counts as no longer available.
async function checkPriceIds(entries: CheckoutEntry[], terms: Terms, { loaders }: Context) {
  const isOfRate = async ({ priceId }: CheckoutEntry) =>
    terms.prices.some((price) => price.id === priceId) ||
    (await loaders.load(priceById, priceId))?.ticketRateId === terms.rate.id
  const known = await Promise.all(entries.map(isOfRate))
  return known.flatMap((isKnown, index) =>
    isKnown ? [] : problem('PRICE_NOT_IN_RATE', 'The rate has no such price.', ['tickets', index, 'priceId']),
  )
}

/** Chooses the price that each entry is sold at: the requested one, or the current one if that is not
 *  available. */
function choosePrices(entries: CheckoutEntry[], { prices }: Terms, now: Date): Price[] {
  const current = currentPrice(prices, now)
  return entries.flatMap(({ priceId }) => {
    const requested = prices.find((price) => price.id === priceId && isBuyable(price, now))
    return requested ?? current ?? []
  })
}

// Reports, for each price, the first entry that exceeds what the price has left.
function checkPriceStock(chosen: Price[]): Problem[] {
  const counts = new Map<string, number>()
  return chosen.flatMap((price, index) => {
    const count = (counts.get(price.id) ?? 0) + 1
    counts.set(price.id, count)
    const left = leftOf(price)
    return left !== null && count === left + 1
      ? availabilityProblem(left, 'price', ['tickets', index, 'priceId'])
      : []
  })
}

// Returns the amount by which a total exceeds the expected one.
const moreThan = (expected: NonNullable<ExpectedTotal>, totalAmount: number, currency: string) =>
  typeof expected === 'number'
    ? compareTotal(totalAmount, expected, currency)
    : totalAmount - requireAmount(expected, currency, ['expectedTotal'])

/** Tickets that a checkout would sell, and their prices. Amounts in minor units. */
export type CheckoutPlan = ReturnType<typeof planOf>

/** Adds up priced tickets of a rate, for a buyer who was shown `expectedTotal`, or nothing. Refuses: TOTAL_INCREASED if
 *  they cost more (DECISIONS 60). */
export function planOf({ rate }: Terms, tickets: PricedTicket[], expectedTotal?: ExpectedTotal) {
  const totalAmount = tickets.reduce((sum, ticket) => sum + ticket.totalAmount, 0)
  const increase = expectedTotal == null ? 0 : moreThan(expectedTotal, totalAmount, rate.currency)
  if (increase > 0) {
    const total = toMoney(totalAmount, rate.currency)
    const message = `The total is now ${total.amount} ${total.currency}.`
    throw refusal('TOTAL_INCREASED', message, ['expectedTotal'], { totalAmount: total })
  }
  // The rate's current price may have replaced one that was no longer available.
  const conditionsChanged = increase < 0 || tickets.some(({ entry, price }) => entry.priceId !== price.id)
  return { rate, tickets, totalAmount, conditionsChanged }
}

/** Validates and prices a checkout by the database's clock and counters, and holds nothing. `terms` are those
 *  of the input's rate. A total that is lower than `expectedTotal` is marked as changed conditions.
 *  Refuses: all problems of the entries, the rate and its stock at once (INTERFACE, checkout; DECISIONS, checkout);
 *  TOTAL_INCREASED. */
export async function planCheckout(
  { tickets: entries, discountCode, expectedTotal }: CheckoutInput,
  terms: Terms,
  ctx: Context,
  purpose: 'online' | 'box_office' | 'quote' = 'online',
): Promise<CheckoutPlan> {
  const { rate } = terms
  const discount = discountCode ? await findDiscount(ctx, rate.organizationId, discountCode) : null
  refuseIf([
    ...checkSale(terms, entries.length, ctx.now, purpose === 'quote' ? 'online' : purpose),
    ...(await checkPriceIds(entries, terms, ctx)),
    ...checkEntries(entries, terms, purpose === 'quote'),
    ...(discountCode ? checkDiscount(discount, rate.id, ctx.now) : []),
  ])
  const chosen = choosePrices(entries, terms, ctx.now)
  const amountsOff = discountAmountsOf(discount, chosen)
  refuseIf([...checkPriceStock(chosen), ...checkUses(discount, amountsOff)])
  const tickets = entries.flatMap((entry, index) => {
    const price = chosen[index]
    const off = { id: discount?.id ?? null, amount: amountsOff[index] ?? 0 }
    return price ? [priceTicket(entry, price, terms, off)] : []
  })
  return planOf(terms, tickets, expectedTotal)
}
