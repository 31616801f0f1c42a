import { inArray, type SQL } from 'drizzle-orm'
import { type Ticket, tickets } from './table.ts'

type Status = Ticket['status']

/** What may become of a ticket, and nothing else may. One that has expired is `active` once its money comes late and
 *  there is a place left (DECISIONS 5). */
export const ticketTransitions: Record<Status, readonly Status[]> = {
  held: ['active', 'expired'],
  active: ['cancelled'],
  cancelled: [],
  expired: ['active'],
}

export const ticketMayBecome = (from: Status, to: Status): boolean => ticketTransitions[from].includes(to)

/** The guard of an update that makes a ticket `to`: of one that may not become that, nothing is changed. */
export const ticketCanBecome = (to: Status): SQL =>
  inArray(
    tickets.status,
    tickets.status.enumValues.filter((from) => ticketMayBecome(from, to)),
  )
