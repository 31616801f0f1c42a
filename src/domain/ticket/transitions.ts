import { inArray, type SQL } from 'drizzle-orm'
import { type Ticket, tickets } from './table.ts'

type Status = Ticket['status']

/** Allowed transitions of a ticket. An expired ticket becomes `active` if its payment arrives late and a
 *  place is left (DECISIONS 5). */
const ticketTransitions: Record<Status, readonly Status[]> = {
  held: ['active', 'expired'],
  active: ['cancelled'],
  cancelled: [],
  expired: ['active'],
}

export const ticketMayBecome = (from: Status, to: Status): boolean => ticketTransitions[from].includes(to)

/** Condition for an update that makes a ticket `to`: it matches only tickets that may become that. */
export const whereTicketMayBecome = (to: Status): SQL =>
  inArray(
    tickets.status,
    tickets.status.enumValues.filter((from) => ticketMayBecome(from, to)),
  )
