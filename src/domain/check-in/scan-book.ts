import { sql } from 'drizzle-orm'
import { hourMs } from '../../engine/base/timers.ts'
import { arrayRows, insertRows } from '../../engine/data/array-params.ts'
import { inOrganization, query } from '../../engine/data/query.ts'
import { nowMs } from '../../engine/database/clock.ts'
import type { Connection } from '../../engine/database/database.ts'
import { announceOnCommit } from '../../engine/database/transaction.ts'
import { recordChanges } from '../change/record-changes.ts'
import type { NewChange } from '../change/table.ts'
import { newId } from '../contract/ids.ts'
import { ticketChange } from '../ticket/body.ts'
import { ticketLock } from '../ticket/require-ticket.ts'
import { tickets } from '../ticket/table.ts'
import type { CheckInInput } from './check-in-input.ts'
import { findLater, type LaterRange, type ScannedTicket } from './find-scans.ts'
import { type CheckIn, checkIns } from './table.ts'

/** A check-in to be written. */
export type NewCheckIn = Omit<CheckIn, 'createdAt'>

/** Time at which the doors of an event open. */
export const doorsOpenAt = (startDate: Date, admissionHours: number): Date =>
  new Date(startDate.getTime() - admissionHours * hourMs)

// A calendar day at the venue. Swedish formats dates as YYYY-MM-DD.
const dayOf = (time: Date, timezone: string) =>
  new Intl.DateTimeFormat('sv', { timeZone: timezone, dateStyle: 'short' }).format(time)

// Reports whether a time is before the calendar day of an event, at its venue: the day that is shown of it.
const isBeforeDay = (time: Date, { displayDate, startDate, timezone }: ScannedTicket) =>
  dayOf(time, timezone) < dayOf(displayDate ?? startDate, timezone)

/** A new scan: its place in the request, its time, and the ticket that it found. */
export type BookedScan = { place: number; input: CheckInInput; requestHash: string; scannedAt: Date } & {
  ticket: ScannedTicket | null
}

/** Decides the outcome of a scan: all of its people, or none. A scan that arrives late must fit among what
 *  happened since: at no time since then may more people have been inside than the ticket admits, or fewer
 *  than none. `force` overrides TOO_EARLY on the day of the event and, for people who left without a scan,
 *  NO_ENTRIES_LEFT. It never admits more people at once than the ticket does, nor anybody without a paid ticket
 *  for this event (DECISIONS 52). */
function decideScan(
  { input: { eventId, direction, people, force }, scannedAt }: BookedScan,
  ticket: ScannedTicket,
  { rise, fall }: LaterRange,
  isEarly: boolean,
): CheckIn['outcome'] {
  if (eventId !== ticket.eventId) return 'WRONG_EVENT'
  if (ticket.status === 'cancelled') return 'CANCELLED'
  if (ticket.status !== 'active') return 'UNPAID'
  if (direction === 'out') return people <= ticket.entered + fall ? 'OK' : 'NOT_INSIDE'
  // Comes before TOO_EARLY, because whoever overrides that may not mean to let a ticket in twice.
  if (people > ticket.admits - (force ? 0 : ticket.entered + rise)) return 'NO_ENTRIES_LEFT'
  return isEarly && (!force || isBeforeDay(scannedAt, ticket)) ? 'TOO_EARLY' : 'OK'
}

const notFound = {
  ticketId: null,
  outcome: 'NOT_FOUND',
  firstEnteredAt: null,
  inside: null,
  admits: null,
  isEarly: false,
} as const

/** A ticket under its lock; the most people inside and the last entry among the scans so far. */
type Tally = ScannedTicket & { peakAttendance: number; lastEntryAt: Date | null }

// In the order of keys, so that two batches that share some can't wait for each other.
const insert = insertRows('insert_check_ins', checkIns, { key: 'idempotencyKey' })

const { id, status, qrCode, entered, peakAttendance, firstEntryAt, lastEntryAt } = tickets

// Columns of a ticket that others may have changed since it was found. Nobody else's work changes what else a decision needs.
const lockAtDoor = ticketLock('lock_tickets_at_door', { id, status, qrCode, entered, firstEntryAt })

const counted = arrayRows('counted', { id, entered, peakAttendance, firstEntryAt, lastEntryAt })

// Scans may arrive in any order.
const writeCounts = query(
  'count_entries',
  () => sql`
  update ${tickets} set entered = counted.entered,
    peak_attendance = greatest(${peakAttendance}, counted."peakAttendance"),
    first_entry_at = least(${firstEntryAt}, counted."firstEntryAt"),
    last_entry_at = greatest(${lastEntryAt}, counted."lastEntryAt"), updated_at = ${nowMs}
  from ${counted.typed}
  where ${inOrganization(tickets.organizationId)} and ${id} = counted.id`,
)

/** Counts the scans of a transaction in memory, one after the other, so that any number of them is written in
 *  one statement of each kind. Locks the active tickets of these scans, in the order of their ids, until the
 *  transaction ends. The others let nobody in and need no lock, so whoever locks unpaid tickets waits for no scan.
 *  The doors of an event open `admissionHours` before it. */
export async function openScanBook(
  tx: Connection,
  by: Pick<CheckIn, 'organizationId' | 'integrationId' | 'mode'>,
  scans: BookedScan[],
  admissionHours: number,
) {
  const { organizationId } = by
  // Filled in place: a copy of a row by spreading is slow, and several kilobytes of garbage for each scan.
  const tallies = new Map<string, Tally>()
  for (const { ticket } of scans)
    if (ticket) tallies.set(ticket.id, Object.assign(ticket, { peakAttendance: 0, lastEntryAt: null }))
  const active = [...tallies.values()].filter(({ status }) => status === 'active').map(({ id }) => id)
  const locked = active.length > 0 ? await lockAtDoor(tx, { organizationId, keys: active }) : []
  for (const ticket of locked) Object.assign(tallies.get(ticket.id) ?? {}, ticket)
  const uploaded = scans.flatMap(({ place, input, scannedAt, ticket }) =>
    input.scannedAt && ticket && tallies.get(ticket.id)?.firstEntryAt
      ? [{ place, scannedAt, ticketId: ticket.id }]
      : [],
  )
  const ranges = await findLater(tx, organizationId, uploaded)
  const moved = new Set<Tally>()
  const made: NewCheckIn[] = []
  const changes: NewChange[] = []

  function count(ticket: Tally, { direction, people }: CheckInInput, scannedAt: Date): void {
    moved.add(ticket)
    if (direction === 'in') {
      ticket.entered = Math.min(ticket.entered + people, ticket.admits)
      const { firstEntryAt: first } = ticket
      ticket.firstEntryAt = first && first < scannedAt ? first : scannedAt
      // Scans come in the order of their times.
      ticket.lastEntryAt = scannedAt
      ticket.peakAttendance = Math.max(ticket.peakAttendance, ticket.entered)
      changes.push(ticketChange('ticket.entered', ticket, { people }))
    } else {
      ticket.entered -= people
      // For scanners that are offline: without it they would turn away whoever left by another door.
      changes.push(ticketChange('ticket.updated', ticket))
    }
  }

  function tallyScan(scan: BookedScan) {
    const { input, scannedAt } = scan
    const ticket = scan.ticket && tallies.get(scan.ticket.id)
    // A code that was transferred while this transaction waited for the lock is nobody's any more.
    if (!ticket || !(input.ticketId || ticket.qrCode === input.qrCode)) return notFound
    const { id: ticketId, startDate, admits, firstEntryAt: firstEnteredAt } = ticket
    const isEarly = scannedAt < doorsOpenAt(startDate, admissionHours)
    const outcome = decideScan(scan, ticket, ranges.get(scan.place) ?? { rise: 0, fall: 0 }, isEarly)
    if (outcome === 'OK') count(ticket, input, scannedAt)
    return { ticketId, outcome, firstEnteredAt, inside: ticket.entered, admits, isEarly }
  }

  return {
    /** Decides a scan and counts its people. Expects scans in the order of their times. */
    enter(scan: BookedScan): NewCheckIn {
      const { input, requestHash, scannedAt } = scan
      const { idempotencyKey, eventId, direction, people, force: forced } = input
      const given = { idempotencyKey, requestHash, eventId, direction, people, forced, scannedAt }
      const checkIn = { id: newId('chk'), ...by, ...given, ...tallyScan(scan) }
      made.push(checkIn)
      return checkIn
    },
    /** Writes the check-ins, counts people in and out, and records changes, in one statement each. Throws a duplicate if
     *  a key was used meanwhile. */
    async write(): Promise<void> {
      if (made.length === 0) return
      await insert(tx, made)
      announceOnCommit(tx, 'check-ins', [...new Set(made.map(({ eventId }) => eventId))])
      if (moved.size === 0) return
      await writeCounts(tx, { organizationId, ...counted.values([...moved]) })
      await recordChanges(tx, changes)
    },
  }
}
