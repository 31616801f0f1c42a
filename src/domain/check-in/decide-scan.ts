import { hour } from '../../shared/hour.ts'
import type { CheckInInput } from './check-in-input.ts'
import type { LaterRange, ScannedTicket } from './find-scans.ts'
import type { CheckIn } from './table.ts'

/** Scan of a ticket that was found: its time, and what is known of the ticket then. */
type Moment = {
  /** Ticket with the number of people inside now. */
  ticket: Pick<ScannedTicket, 'eventId' | 'status' | 'admits' | 'entered'>
  later: LaterRange
  /** True if the doors were not open yet. */
  isEarly: boolean
}

/** Decides the result of a scan: all of its people, or none. A scan that arrives late must fit among what
 *  happened since: at no time since then may more people have been inside than the ticket admits, or fewer
 *  than none. `force` overrides TOO_EARLY and, for people who left without a scan, ALREADY_ENTERED. It never
 *  admits more people at once than the ticket does, nor anybody without a paid ticket for this event. */
export function decideScan(
  { eventId, direction, people, force }: CheckInInput,
  { ticket, later: { rise, fall }, isEarly }: Moment,
): CheckIn['result'] {
  if (eventId && eventId !== ticket.eventId) return 'WRONG_EVENT'
  if (ticket.status === 'cancelled') return 'CANCELLED'
  if (ticket.status !== 'active') return 'UNPAID'
  if (direction === 'out') return people <= ticket.entered + fall ? 'OK' : 'NOT_INSIDE'
  // Before TOO_EARLY, which somebody may override who would not let a ticket in twice.
  if (people > ticket.admits - (force ? 0 : ticket.entered + rise)) return 'ALREADY_ENTERED'
  return isEarly && !force ? 'TOO_EARLY' : 'OK'
}

/** Number of people inside after a scan that is OK. */
export const enteredAfter = (
  { direction, people }: Pick<CheckInInput, 'direction' | 'people'>,
  { entered, admits }: Pick<ScannedTicket, 'entered' | 'admits'>,
): number => (direction === 'out' ? entered - people : Math.min(entered + people, admits))

/** Time at which the doors of an event open, in milliseconds. */
export const doorsOpenAt = (startDate: Date, admissionHours: number): number =>
  startDate.getTime() - admissionHours * hour
