// What a sale of one rate is to look like from outside, by plain counters: no clock, no database, no locks.

export type PaymentStatus = 'pending' | 'paid' | 'expired' | 'cancelled' | 'partially_refunded' | 'refunded'

export type ModelTicket = {
  id: string
  status: 'pending' | 'activated' | 'cancelled' | 'expired'
  paid: number
  refunded: number
  inside: number
  wasInside: boolean
}
export type ModelPayment = {
  id: string
  url: string
  status: PaymentStatus
  tickets: ModelTicket[]
  charged: number
}

export type Model = { capacity: number; payments: ModelPayment[] }

const count = (model: Model, status: ModelTicket['status']) =>
  model.payments.flatMap(({ tickets }) => tickets).filter((ticket) => ticket.status === status).length

export const held = (model: Model): number => count(model, 'pending')
export const sold = (model: Model): number => count(model, 'activated')
export const left = (model: Model): number => model.capacity - held(model) - sold(model)

const setAll = ({ tickets }: ModelPayment, status: ModelTicket['status']) => {
  for (const ticket of tickets) ticket.status = status
}

/** Ends an unpaid payment: what it holds is free. */
export function end(payment: ModelPayment, status: 'expired' | 'cancelled'): void {
  payment.status = status
  setAll(payment, 'expired')
}

const isPaid = ({ status }: ModelPayment) =>
  status === 'paid' || status === 'partially_refunded' || status === 'refunded'

/** Money comes, of whatever payment: it pays, claims again, or goes back whole. */
export function pay(model: Model, payment: ModelPayment, price: number): void {
  payment.charged++
  const isLate = payment.status === 'expired'
  if (payment.status === 'pending' || (isLate && left(model) >= payment.tickets.length)) {
    payment.status = 'paid'
    setAll(payment, 'activated')
    for (const ticket of payment.tickets) ticket.paid = price
  } else if (!isPaid(payment)) payment.status = 'refunded'
}

/** Gives money of a ticket back, which changes nothing else of it. */
export function refund(payment: ModelPayment, ticket: ModelTicket, amount: number): void {
  ticket.refunded += amount
  const refunded = payment.tickets.every(({ paid, refunded }) => paid === refunded)
  payment.status = refunded ? 'refunded' : 'partially_refunded'
}
