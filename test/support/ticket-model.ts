// A model of the sale of one rate, with plain counters: no clock, no database, no locks.

export type ModelTicket = {
  id: string
  status: 'held' | 'active' | 'cancelled' | 'expired'
  /** Amounts paid and refunded, in minor units. */
  paid: number
  refunded: number
  /** People that it admits, and those inside. */
  admits: number
  inside: number
  wasInside: boolean
  /** Items of its supplement that are left, and those redeemed. */
  drinksLeft: number
  drinksUsed: number
  /** Number of times that it was given to another person. */
  transfers: number
  /** Name of the first holder. */
  holder: string
}
export type ModelPayment = {
  id: string
  status: 'pending' | 'paid' | 'failed' | 'expired' | 'cancelled' | 'partially_refunded' | 'refunded'
  tickets: ModelTicket[]
  charges: number
  /** True if the organization sold or gave it away itself: no channel's payment. */
  isOwn?: boolean
}
export type Model = { capacity: number; payments: ModelPayment[] }

const count = (model: Model, status: ModelTicket['status']) =>
  model.payments.flatMap(({ tickets }) => tickets).filter((ticket) => ticket.status === status).length

/** Places that are neither held nor sold. */
export const left = (model: Model): number => model.capacity - count(model, 'held') - count(model, 'active')

const setAll = ({ tickets }: ModelPayment, status: ModelTicket['status']) => {
  for (const ticket of tickets) ticket.status = status
}

/** Ends a pending payment and releases its tickets. Any other payment stays unchanged. */
export function end(payment: ModelPayment, status: 'failed' | 'expired' | 'cancelled'): void {
  if (payment.status !== 'pending') return
  payment.status = status
  setAll(payment, 'expired')
}

const isLate = ({ status }: ModelPayment) => status === 'failed' || status === 'expired'

/** Charges a payment in any state: settles it, reclaims expired tickets, or refunds the whole charge. */
export function pay(model: Model, payment: ModelPayment, price: number): void {
  payment.charges++
  if (payment.status === 'pending' || (isLate(payment) && left(model) >= payment.tickets.length)) {
    payment.status = 'paid'
    setAll(payment, 'active')
    for (const ticket of payment.tickets) ticket.paid = price
  } else if (isLate(payment) || payment.status === 'cancelled') payment.status = 'refunded'
}

/** Refunds part of the amount paid for a ticket. The ticket stays as it is. */
export function refund(payment: ModelPayment, ticket: ModelTicket, amount: number): void {
  ticket.refunded += amount
  const isAll = payment.tickets.every(({ paid, refunded }) => paid === refunded)
  payment.status = isAll ? 'refunded' : 'partially_refunded'
}

/** Gives a ticket to another person, and returns the expected refusal; null if it may. */
export function transfer(ticket: ModelTicket): string | null {
  if (ticket.status !== 'active') return 'ILLEGAL_TRANSITION'
  if (ticket.wasInside) return 'ALREADY_ENTERED'
  if (ticket.transfers === 5) return 'TOO_MANY_RESENDS'
  ticket.transfers++
  return null
}

const notActive = ({ status }: ModelTicket) => (status === 'cancelled' ? 'CANCELLED' : 'UNPAID')

/** Scans a ticket for that many people and returns the expected result code. */
export function scan(ticket: ModelTicket, direction: 'IN' | 'OUT', people: number): string {
  if (ticket.status !== 'active') return notActive(ticket)
  const inside = ticket.inside + (direction === 'IN' ? people : -people)
  if (inside < 0) return 'NOT_INSIDE'
  if (inside > ticket.admits) return 'NO_ENTRIES_LEFT'
  ticket.inside = inside
  ticket.wasInside = true
  return 'OK'
}

/** Redeems items of a ticket's supplement and returns the expected result code. */
export function redeem(ticket: ModelTicket, quantity: number): string {
  if (ticket.status !== 'active') return notActive(ticket)
  if (ticket.drinksLeft + ticket.drinksUsed === 0) return 'NOT_BOUGHT'
  if (quantity > ticket.drinksLeft) return 'USED_UP'
  ticket.drinksLeft -= quantity
  ticket.drinksUsed += quantity
  return 'OK'
}
