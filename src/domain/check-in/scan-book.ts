import type { Connection } from '../../database/database.ts'
import type { NewChange } from '../change/table.ts'
import { hourMs } from '../event/local-time.ts'
import { ticketChange } from '../ticket/body.ts'
import { lockTickets } from '../ticket/require-ticket.ts'
import type { CheckInInput } from './check-in-input.ts'
import { findLater, type LaterRange, type ScannedTicket } from './find-scans.ts'
import type { CheckIn } from './table.ts'

/** A check-in to be written. */
type NewCheckIn = Omit<CheckIn, 'createdAt'>

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
 *  NO_ENTRIES_LEFT. It never admits more people at once than the ticket does, nor anybody without a paid ticket
 *  for this event (DECISIONS 52). */
export function decideScan(
  { eventId, direction, people, force }: CheckInInput,
  { ticket, later: { rise, fall }, isEarly, isBeforeDay }: Moment,
): CheckIn['result'] {
  if (eventId && eventId !== ticket.eventId) return 'WRONG_EVENT'
  if (ticket.status === 'cancelled') return 'CANCELLED'
  if (ticket.status !== 'active') return 'UNPAID'
  if (direction === 'out') return people <= ticket.entered + fall ? 'OK' : 'NOT_INSIDE'
  // Comes before TOO_EARLY, because whoever overrides that may not mean to let a ticket in twice.
  if (people > ticket.admits - (force ? 0 : ticket.entered + rise)) return 'NO_ENTRIES_LEFT'
  return isEarly && (isBeforeDay || !force) ? 'TOO_EARLY' : 'OK'
}

/** Number of people inside after a scan that is OK. */
export const enteredAfter = (
  { direction, people }: Pick<CheckInInput, 'direction' | 'people'>,
  { entered, admits }: Pick<ScannedTicket, 'entered' | 'admits'>,
): number => (direction === 'out' ? entered - people : Math.min(entered + people, admits))

/** Time at which the doors of an event open, in milliseconds. */
export const doorsOpenAt = (startDate: Date, admissionHours: number): number =>
  startDate.getTime() - admissionHours * hourMs

// A calendar day at the venue. Swedish formats dates as YYYY-MM-DD.
const dayOf = (time: Date, timezone: string) =>
  new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short' }).format(time)

/** Reports whether a time is before the calendar day of an event, at its venue: the day that is shown of it. */
export const isBeforeDay = (
  time: Date,
  { displayDate, startDate, timezone }: Pick<ScannedTicket, 'displayDate' | 'startDate' | 'timezone'>,
): boolean => dayOf(time, timezone) < dayOf(displayDate ?? startDate, timezone)

/** A new scan: its place in the request, its time, and the ticket that it found. */
export type BookedScan = { place: number; input: CheckInInput; at: Date; ticket: ScannedTicket | null }

/** A scan that was decided. The numbers are null if no ticket was found: people inside with the ticket after the
 *  scan, and people that it admits. `isEarly` is true before the doors opened. */
export type Entered = NewCheckIn & { entered: number | null; admits: number | null; isEarly: boolean }

/** A ticket under its lock, and its first and last entry among the scans so far. */
type Tally = {
  ticket: ScannedTicket
  firstEntryAt: Date | null
  lastEntryAt: Date | null
  isChanged: boolean
}

const earlier = (one: Date | null, other: Date) => (one && one < other ? one : other)
const later = (one: Date | null, other: Date) => (one && one > other ? one : other)
const noRange: LaterRange = { rise: 0, fall: 0 }

/** Counts the scans of a transaction in memory, one after the other, so that any number of them is written in
 *  one statement of each kind. */
export class ScanBook {
  readonly #tallies: Map<string, Tally>
  readonly #ranges: Map<number, LaterRange>
  readonly #opensAt: (startDate: Date) => number
  readonly made: NewCheckIn[] = []
  /** Events whose tickets were scanned. */
  readonly eventIds = new Set<string>()
  readonly changes: NewChange[] = []

  private constructor(
    tallies: Map<string, Tally>,
    ranges: Map<number, LaterRange>,
    opensAt: (startDate: Date) => number,
  ) {
    this.#tallies = tallies
    this.#ranges = ranges
    this.#opensAt = opensAt
  }

  /** Locks the active tickets of these scans, in the order of their ids, until the transaction ends. The
   *  others let nobody in and need no lock, so whoever locks unpaid tickets waits for no scan. `opensAt` is
   *  the time at which the doors of an event open, in milliseconds. */
  static async open(
    tx: Connection,
    organizationId: string,
    scans: BookedScan[],
    opensAt: (startDate: Date) => number,
  ): Promise<ScanBook> {
    const found = new Map(scans.flatMap(({ ticket }) => (ticket ? [[ticket.id, ticket] as const] : [])))
    const active = [...found.values()].filter(({ status }) => status === 'active').map(({ id }) => id)
    const locked = active.length > 0 ? await lockTickets(tx, { organizationId, keys: active }) : []
    for (const ticket of locked) {
      const before = found.get(ticket.id)
      if (before) found.set(ticket.id, { ...before, ...ticket })
    }
    const uploaded = scans.flatMap(({ place, input, at, ticket }) =>
      input.at && ticket && found.get(ticket.id)?.firstEntryAt ? [{ place, at, ticketId: ticket.id }] : [],
    )
    const ranges = await findLater(tx, organizationId, uploaded)
    const nobody = { firstEntryAt: null, lastEntryAt: null, isChanged: false }
    const tallies = new Map([...found].map(([id, ticket]) => [id, { ticket, ...nobody }]))
    return new ScanBook(tallies, ranges, opensAt)
  }

  // A code that was transferred while this transaction waited for the lock is nobody's any more.
  #tallyOf({ input, ticket }: BookedScan): Tally | null {
    const tally = ticket && this.#tallies.get(ticket.id)
    return tally && (input.ticketId || tally.ticket.qrCode === input.qrCode) ? tally : null
  }

  /** Decides a scan and counts its people. Expects scans in the order of their times. */
  enter(scan: BookedScan, row: Omit<NewCheckIn, 'ticketId' | 'result' | 'firstEnteredAt'>): Entered {
    const { place, input, at } = scan
    const tally = this.#tallyOf(scan)
    if (!tally) {
      const unknown = { ...row, ticketId: null, result: 'NOT_FOUND', firstEnteredAt: null } as const
      this.made.push(unknown)
      return { ...unknown, entered: null, admits: null, isEarly: false }
    }
    const { ticket } = tally
    const isEarly = at.getTime() < this.#opensAt(ticket.startDate)
    const range = this.#ranges.get(place) ?? noRange
    const moment = {
      ticket,
      later: range,
      isEarly,
      isBeforeDay: input.force && isEarly && isBeforeDay(at, ticket),
    }
    const result = decideScan(input, moment)
    const made = { ...row, ticketId: ticket.id, result, firstEnteredAt: ticket.firstEntryAt }
    this.made.push(made)
    this.eventIds.add(ticket.eventId)
    if (result === 'OK') this.#count(tally, input, at)
    return { ...made, entered: tally.ticket.entered, admits: ticket.admits, isEarly }
  }

  #count(tally: Tally, input: CheckInInput, at: Date): void {
    const ticket = { ...tally.ticket, entered: enteredAfter(input, tally.ticket) }
    tally.isChanged = true
    if (input.direction === 'in') {
      ticket.firstEntryAt = earlier(ticket.firstEntryAt, at)
      tally.firstEntryAt = earlier(tally.firstEntryAt, at)
      tally.lastEntryAt = later(tally.lastEntryAt, at)
      this.changes.push(ticketChange('ticket.entered', ticket, { people: input.people }))
    } else {
      // For scanners that are offline: without it they would turn away whoever left by another door.
      this.changes.push(ticketChange('ticket.updated', ticket))
    }
    tally.ticket = ticket
  }

  /** Tickets that people entered or left with: those inside after the scans, and the first and last time that somebody
   *  entered by them. */
  get occupancies() {
    return [...this.#tallies.values()].flatMap(({ ticket, firstEntryAt, lastEntryAt, isChanged }) =>
      isChanged ? [{ id: ticket.id, entered: ticket.entered, firstEntryAt, lastEntryAt }] : [],
    )
  }
}
