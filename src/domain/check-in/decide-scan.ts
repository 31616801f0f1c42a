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
  /** True before the day of the event. */
  isBeforeDay: boolean
}

/** Decides the result of a scan: all of its people, or none. A scan that arrives late must fit among what
 *  happened since: at no time since then may more people have been inside than the ticket admits, or fewer
 *  than none. `force` overrides TOO_EARLY on the day of the event and, for people who left without a scan,
 *  ALREADY_ENTERED. It never admits more people at once than the ticket does, nor anybody without a paid ticket
 *  for this event (DECISIONS 52). */
export function decideScan(
  { eventId, direction, people, force }: CheckInInput,
  { ticket, later: { rise, fall }, isEarly, isBeforeDay }: Moment,
): CheckIn['result'] {
  if (eventId && eventId !== ticket.eventId) return 'WRONG_EVENT'
  if (ticket.status === 'cancelled') return 'CANCELLED'
  if (ticket.status !== 'active') return 'UNPAID'
  if (direction === 'out') return people <= ticket.entered + fall ? 'OK' : 'NOT_INSIDE'
  // Before TOO_EARLY, which somebody may override who would not let a ticket in twice.
  if (people > ticket.admits - (force ? 0 : ticket.entered + rise)) return 'ALREADY_ENTERED'
  return isEarly && (isBeforeDay || !force) ? 'TOO_EARLY' : 'OK'
}

/** Number of people inside after a scan that is OK. */
export const enteredAfter = (
  { direction, people }: Pick<CheckInInput, 'direction' | 'people'>,
  { entered, admits }: Pick<ScannedTicket, 'entered' | 'admits'>,
): number => (direction === 'out' ? entered - people : Math.min(entered + people, admits))

/** Time at which the doors of an event open, in milliseconds. */
export const doorsOpenAt = (startDate: Date, admissionHours: number): number =>
  startDate.getTime() - admissionHours * hour

// A calendar day at the venue. Swedish formats dates as YYYY-MM-DD.
const dayOf = (time: Date, timezone: string) =>
  new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short' }).format(time)

/** Reports whether a time is before the calendar day of an event, at its venue: the day that is shown of it. */
export const isBeforeDay = (
  time: Date,
  { displayDate, startDate, timezone }: Pick<ScannedTicket, 'displayDate' | 'startDate' | 'timezone'>,
): boolean => dayOf(time, timezone) < dayOf(displayDate ?? startDate, timezone)
