import type { PaymentOutcome } from '../../src/domain/payment/provider.ts'
import { anEntry, type Checkout, mustCheckOut } from './checkouts.ts'
import { paymentRow, refundTicket } from './refunds.ts'
import type { Sale } from './sale.ts'
import { settlePaymentById } from './settle-payment.ts'
import { paidOutcome } from './stub-provider.ts'

// Tickets in the state that a test starts from, as a channel sells them.

type Entry = Record<string, unknown>

/** What is ordered: tickets of `rate_1` at `price_1`, or of the rate and at the price with another name. They are
 *  `entries`, or `count` times the same `entry`, by default one ticket of Ana. Other fields are those of a checkout. */
export type Order = {
  rate?: string | number
  count?: number
  entry?: Entry
  entries?: Entry[]
  headers?: Record<string, string>
} & Record<string, unknown>

/** Body of the checkout of an order. */
export function toBody({ rate = '1', count = 1, entry = {}, entries, headers: _, ...more }: Order = {}) {
  const tickets = entries ?? Array.from({ length: count }, () => entry)
  return {
    ticket_rate_id: `rate_${rate}`,
    tickets: tickets.map((given) => anEntry(`price_${rate}`, given)),
    ...more,
  }
}

/** Checks out, and fails the test if that is refused. */
export const holdTickets = (sale: Sale, order: Order = {}): Promise<Checkout> =>
  mustCheckOut(sale, toBody(order), order.headers)

/** A `paid` outcome with the full amount of a checkout. */
export async function fullPaymentOf(
  sale: Sale,
  checkout: Checkout,
  reference?: string,
): Promise<PaymentOutcome> {
  const { id = '', totalAmount: amount, currency } = (await paymentRow(sale, checkout)) ?? {}
  return paidOutcome(id, { amount, currency, ...(reference && { reference }) })
}

/** Pays for a checkout in full, and returns the new status of its payment. */
export const payFor = async (sale: Sale, checkout: Checkout, reference?: string) =>
  settlePaymentById(sale.db, checkout.payment_id, await fullPaymentOf(sale, checkout, reference))

/** Checks out and pays. */
export async function buyTickets(sale: Sale, order?: Order): Promise<Checkout> {
  const checkout = await holdTickets(sale, order)
  await payFor(sale, checkout)
  return checkout
}

/** ID of a checkout's ticket, by default the first. */
export const ticketOf = ({ tickets }: Checkout, index = 0): string => tickets[index]?._id ?? ''

type SoldTicket = { id: string; qrCode: string; paymentId: string; checkout: Checkout }

function firstOf(checkout: Checkout): SoldTicket {
  const [ticket] = checkout.tickets
  if (!ticket) throw new Error('a checkout has a ticket')
  return { id: ticket._id, qrCode: ticket.qr_code, paymentId: checkout.payment_id, checkout }
}

/** A ticket that waits for its payment. */
export const aHeldTicket = async (sale: Sale, order?: Order) => firstOf(await holdTickets(sale, order))

/** An activated ticket. */
export const aPaidTicket = async (sale: Sale, order?: Order) => firstOf(await buyTickets(sale, order))

/** A ticket whose refund an organization has ordered: of all that was paid, or of an amount. */
export async function aRefundedTicket(
  sale: Sale,
  order?: Order,
  refund?: Parameters<typeof refundTicket>[2],
) {
  const ticket = await aPaidTicket(sale, order)
  const { errors } = await refundTicket(sale, ticket.id, refund)
  if (errors) throw new Error(`the refund was refused: ${errors[0]?.code}`)
  return ticket
}
