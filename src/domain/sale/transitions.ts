import { inArray, type SQL } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { type Payment, payments } from '../payment/table.ts'
import { type Ticket, tickets } from '../ticket/table.ts'

/** Makes of the allowed transitions of a status two functions: one reports whether `from` may become `to`; one guards an
 *  update that sets the status to `to`, and matches only rows whose status allows it. */
function statesOf<Status extends string>(column: PgColumn, transitions: Record<Status, readonly Status[]>) {
  const mayBecome = (from: Status, to: Status): boolean => transitions[from].includes(to)
  const before = (to: Status) => (Object.keys(transitions) as Status[]).filter((from) => mayBecome(from, to))
  return [mayBecome, (to: Status): SQL => inArray(column, before(to))] as const
}

/** Allowed transitions of a payment. A late charge makes it `paid` if there are places left, and `refunded`
 *  if there are none or it was cancelled. A late failure undoes nothing (DECISIONS, states). */
export const [paymentMayBecome, wherePaymentMayBecome] = statesOf<Payment['status']>(payments.status, {
  pending: ['processing', 'paid', 'failed', 'expired', 'cancelled'],
  processing: ['paid', 'failed', 'expired'],
  failed: ['paid', 'refunded'],
  expired: ['paid', 'refunded'],
  cancelled: ['refunded'],
  paid: ['partially_refunded', 'refunded'],
  // One partial refund may follow another.
  partially_refunded: ['partially_refunded', 'refunded'],
  refunded: [],
})

/** Allowed transitions of a ticket. It expires with its unpaid payment, whose late charge activates it if there are places
 *  left; only a paid one is cancelled (DECISIONS, states). */
export const [ticketMayBecome, whereTicketMayBecome] = statesOf<Ticket['status']>(tickets.status, {
  held: ['active', 'expired'],
  active: ['cancelled'],
  expired: ['active'],
  cancelled: [],
})
