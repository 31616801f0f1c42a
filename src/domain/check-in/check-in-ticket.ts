import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import { boundedTransactions } from '../../data/bulkhead.ts'
import { checkReplay, inMode, makeOnce } from '../../data/idempotency.ts'
import type { Connection } from '../../database/database.ts'
import { type Context, requireIntegration } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import { sha256 } from '../../shared/ids.ts'
import { recordChanges } from '../sale/record-changes.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { ticketChange } from '../ticket/ticket-change.ts'
import type { CheckInInput } from './check-in-input.ts'
import { findScanned, type Scanned } from './find-scanned.ts'
import { type CheckIn, checkIns } from './table.ts'

/** People inside with a ticket now, and people that it admits. */
type Occupancy = { entered: number | null; admits: number | null }

/** A check-in; `replayed` is true if the nonce was used before. The numbers are null if no ticket was found.
 *  */
export type CheckedIn = CheckIn & Occupancy & { replayed: boolean }

// Many scanners work at the same time: a bound leaves the other connections to everybody else.
const checkInTransaction = boundedTransactions({ maxAtOnce: 3, maxWaiting: 500 })

// Tolerance for inexact clocks of scanners, in milliseconds.
const maxAhead = 5 * 60_000
const hour = 3_600_000

function scannedAt(at: Date | null | undefined, now: Date): Date {
  if (at && at.getTime() > now.getTime() + maxAhead)
    throw new Refusal({ code: 'INVALID', message: 'at must not be in the future.', path: ['at'] })
  return at ?? now
}

type Entry = Pick<CheckInInput, 'direction' | 'people'> & { at: Date }

/** Counts people in or out, at the time of the scan, and returns the number inside. Scans may arrive in any
 *  order. Requires this transaction to hold the ticket's row lock. */
async function countEntry(tx: Connection, ticket: Ticket, entry: Entry): Promise<number> {
  const { direction, people } = entry
  const at = sql`${entry.at.toISOString()}::timestamptz`
  const isIn = direction === 'in'
  const [counted] = await tx
    .update(tickets)
    .set(
      isIn
        ? {
            entered: Math.min(ticket.entered + people, ticket.admits),
            firstEntryAt: sql`least(${tickets.firstEntryAt}, ${at})`,
            lastEntryAt: sql`greatest(${tickets.lastEntryAt}, ${at})`,
          }
        : { entered: ticket.entered - people },
    )
    .where(eq(tickets.id, ticket.id))
    .returning()
  if (!counted) throw new Error(`ticket ${ticket.id} not found under its lock`)
  if (isIn) await recordChanges(tx, [ticketChange('ticket.entered', counted, { people })])
  return counted.entered
}

/** Decides the result of a scan: all of its people, or none. `force` overrides TOO_EARLY and, for people who
 *  left without a scan, ALREADY_ENTERED. It never admits more people at once than the ticket does, nor
 *  anybody without a paid ticket for this event. */
function decideResult(
  ticket: Ticket,
  { eventId, direction, people, force }: CheckInInput,
  isOpen: boolean,
): CheckIn['result'] {
  if (eventId && eventId !== ticket.eventId) return 'WRONG_EVENT'
  if (ticket.status === 'cancelled') return 'CANCELLED'
  if (ticket.status !== 'active') return 'UNPAID'
  if (direction === 'out') return people <= ticket.entered ? 'OK' : 'NOT_INSIDE'
  if (!isOpen && !force) return 'TOO_EARLY'
  return people <= ticket.admits - (force ? 0 : ticket.entered) ? 'OK' : 'ALREADY_ENTERED'
}

// A scan of one person is hashed as it was before 0.2, so that one that is repeated after an upgrade is known.
const hashOf = ({ people, ...scan }: CheckInInput): string =>
  sha256(JSON.stringify(people === 1 ? scan : { ...scan, people }))

/** Checks people with a ticket of the integration's organization in or out, all of them or none. Returns a
 *  rejection as a result and not as a refusal, because the scanner must show it. Idempotent by nonce, whatever
 *  happened to the ticket since. However many scanners work at once, no more people are inside than the ticket
 *  admits. The doors open `admissionHours` before the event, compared with the time of the scan.
 *  Refuses: FORBIDDEN for a channel, INVALID, IDEMPOTENCY_KEY_REUSED (DECISIONS 5, 9). */
export async function checkInTicket(input: CheckInInput, ctx: Context): Promise<CheckedIn> {
  const { integrationId, organizationIds } = requireIntegration(ctx)
  const { direction, people, force } = input
  const nonce = inMode(ctx, input.nonce)
  // A live nonce may read like one in test mode, and is another request all the same.
  const requestHash = inMode(ctx, hashOf(input))

  const decide = async (tx: Connection, scanned: Scanned | null) => {
    const now = scanned ? new Date(Number(scanned.now)) : ctx.now
    const at = scannedAt(input.at, now)
    const row = { integrationId, nonce, requestHash, direction, people, force, at }
    if (!scanned) {
      const unknown = { ...row, ticketId: null, result: 'UNKNOWN', firstEnteredAt: null } as const
      return { row: unknown, occupancy: { entered: null, admits: null } }
    }
    const { ticket, startDate } = scanned
    const { id: ticketId, admits, firstEntryAt: firstEnteredAt } = ticket
    const opensAt = startDate.getTime() - ctx.services.admissionHours * hour
    const result = decideResult(ticket, input, at.getTime() >= opensAt)
    const entered = result === 'OK' ? await countEntry(tx, ticket, { direction, people, at }) : ticket.entered
    return { row: { ...row, ticketId, result, firstEnteredAt }, occupancy: { entered, admits } }
  }

  const scan = () =>
    checkInTransaction(ctx.db, async (tx) => {
      const [made] = await tx
        .select({ ...getTableColumns(checkIns), entered: tickets.entered, admits: tickets.admits })
        .from(checkIns)
        .leftJoin(tickets, eq(tickets.id, checkIns.ticketId))
        .where(and(eq(checkIns.integrationId, integrationId), eq(checkIns.nonce, nonce)))
      const earlier = checkReplay(made, requestHash, 'This nonce was used for another scan.', 'nonce')
      if (earlier) return { ...earlier, replayed: true }
      const { row, occupancy } = await decide(tx, await findScanned(tx, organizationIds, ctx.mode, input))
      const [checkIn] = await tx.insert(checkIns).values(row).returning()
      if (!checkIn) throw new Error('the insert returned no check-in')
      return { ...checkIn, ...occupancy, replayed: false }
    })
  return makeOnce(scan).finally(() => ctx.loaders.clear())
}
