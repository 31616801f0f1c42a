import type { Context } from '../context.ts'
import { type Problem, Refusal, refuseIf } from '../errors.ts'
import type { Organization } from '../organization/table.ts'
import { currentPrice, isBuyable, leftOf } from '../ticket-rate/current-price.ts'
import type { Price, TicketRate } from '../ticket-rate/table.ts'
import { checkEntries, type Terms } from './check-entries.ts'
import { checkSale, tooFew } from './check-sale.ts'
import type { CheckoutEntry, CheckoutInput } from './checkout-input.ts'
import { type PricedTicket, priceTicket } from './price-tickets.ts'

/** What a checkout would sell, and for how much. Amounts in minor units. */
export type CheckoutPlan = {
  rate: TicketRate
  organization: Organization
  tickets: PricedTicket[]
  totalAmount: number
  currency: string
  /** A named price can't be bought any more, and the rate's current price took its place. */
  conditionsChanged: boolean
}

type Sale = Terms & { organization: Organization; prices: Price[] }

async function readSale(ticketRateId: string, { loaders }: Context): Promise<Sale> {
  const rate = await loaders.ticketRateById.load(ticketRateId)
  const [event, organization, prices, supplements, questions] = rate
    ? await Promise.all([
        loaders.eventById.load(rate.eventId),
        loaders.organizationById.load(rate.organizationId),
        loaders.pricesByTicketRateId.load(rate.id),
        loaders.supplementsByTicketRateId.load(rate.id),
        loaders.questionsByTicketRateId.load(rate.id),
      ])
    : []
  if (!rate || !event || !organization || !prices || !supplements || !questions)
    throw new Refusal({ code: 'NOT_FOUND', message: 'There is no such ticket rate.', path: ['ticketRateId'] })
  for (const price of prices) loaders.priceById.prime(price.id, price)
  const location = event.locationId ? await loaders.locationById.load(event.locationId) : null
  return { rate, event, organization, location, prices, supplements, questions }
}

// A named price that is no longer listed counts as one that can't be bought any more.
async function namesPriceOfRate(
  { priceId }: CheckoutEntry,
  sale: Sale,
  { loaders }: Context,
): Promise<boolean> {
  if (sale.prices.some((price) => price.id === priceId)) return true
  return (await loaders.priceById.load(priceId))?.ticketRateId === sale.rate.id
}

async function checkPriceIds(entries: CheckoutEntry[], sale: Sale, ctx: Context): Promise<Problem[]> {
  const known = await Promise.all(entries.map((entry) => namesPriceOfRate(entry, sale, ctx)))
  return known.flatMap((isKnown, index): Problem[] =>
    isKnown
      ? []
      : [
          {
            code: 'PRICE_NOT_IN_RATE',
            message: 'The rate has no such price.',
            path: ['tickets', index, 'priceId'],
          },
        ],
  )
}

/** The price that each entry is sold at: the named one, or the current one where that can't be bought any more. */
function choosePrices(entries: CheckoutEntry[], { prices }: Sale, now: Date): Price[] {
  const current = currentPrice(prices, now)
  return entries.flatMap(({ priceId }) => {
    const named = prices.find((price) => price.id === priceId)
    return named && isBuyable(named, now) ? [named] : current ? [current] : []
  })
}

// The first entry of each price that asks for more than the price has left.
function checkPriceStock(chosen: Price[]): Problem[] {
  const wanted = new Map<string, number>()
  return chosen.flatMap((price, index): Problem[] => {
    const count = (wanted.get(price.id) ?? 0) + 1
    wanted.set(price.id, count)
    const left = leftOf(price)
    return left !== null && count === left + 1 ? [tooFew(left, 'price', ['tickets', index, 'priceId'])] : []
  })
}

/** Decides what a checkout sells and at what price, by the database's clock and counters, and holds nothing.
 *  Refuses what the entries, the rate or its stock do not allow: everything that is wrong, at once
 *  (INTERFACE, checkout; DECISIONS 3 and 4). */
export async function planCheckout(input: CheckoutInput, ctx: Context): Promise<CheckoutPlan> {
  const sale = await readSale(input.ticketRateId, ctx)
  const { rate, event, prices, supplements, organization } = sale
  refuseIf([
    ...checkSale(rate, event, prices, input.tickets.length, ctx.now),
    ...(await checkPriceIds(input.tickets, sale, ctx)),
    ...checkEntries(input.tickets, sale),
  ])
  const chosen = choosePrices(input.tickets, sale, ctx.now)
  refuseIf(checkPriceStock(chosen))
  const tickets = input.tickets.flatMap((entry, index) => {
    const price = chosen[index]
    return price ? [priceTicket(entry, price, rate, supplements, organization)] : []
  })
  return {
    rate,
    organization,
    tickets,
    totalAmount: tickets.reduce((sum, ticket) => sum + ticket.totalAmount, 0),
    currency: organization.currency,
    conditionsChanged: tickets.some(({ entry, price }) => entry.priceId !== price.id),
  }
}
