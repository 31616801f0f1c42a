import type { Ticket } from '../ticket/table.ts'
import type { CheckInInput } from './check-in-input.ts'
import type { CheckIn } from './table.ts'

type Scan = Pick<CheckInInput, 'eventId' | 'direction' | 'force'> & { at: Date }
/** Opening time of the doors. */
type Doors = { opensAt: Date }

const refusedBy = ({ status, eventId }: Ticket, scan: Scan): CheckIn['result'] | null => {
  if (scan.eventId && scan.eventId !== eventId) return 'WRONG_EVENT'
  if (status === 'cancelled') return 'CANCELLED'
  return status === 'active' ? null : 'UNPAID'
}

/** Decides the result of a scan. `force` overrides TOO_EARLY and ALREADY_ENTERED, for people who left without
 *  a scan; it never admits without a paid ticket for this event. */
export function decideCheckIn(ticket: Ticket, scan: Scan, { opensAt }: Doors): CheckIn['result'] {
  const refused = refusedBy(ticket, scan)
  if (refused) return refused
  if (scan.direction === 'out') return ticket.entered > 0 ? 'OK' : 'NOT_INSIDE'
  if (scan.force) return 'OK'
  if (scan.at < opensAt) return 'TOO_EARLY'
  return ticket.entered < ticket.admits ? 'OK' : 'ALREADY_ENTERED'
}
