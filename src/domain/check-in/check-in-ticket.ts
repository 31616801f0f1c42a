import { and, eq, sql } from 'drizzle-orm'
import { boundedTransactions } from '../../data/bulkhead.ts'
import { checkReplay, makeOnce } from '../../data/idempotency.ts'
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

/** A check-in; `replayed` is true if the nonce was used before. */
export type CheckedIn = CheckIn & { replayed: boolean }

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

/** Counts somebody in or out, at the time of the scan. Scans may arrive in any order. */
async function countEntry(
  tx: Connection,
  { id, admits }: Ticket,
  scan: { direction: 'in' | 'out'; at: Date },
) {
  const at = sql`${scan.at.toISOString()}::timestamptz`
  const isIn = scan.direction === 'in'
  const [counted] = await tx
    .update(tickets)
    .set(
      isIn
        ? {
            entered: sql`least(${tickets.entered} + 1, ${admits})`,
            firstEntryAt: sql`least(${tickets.firstEntryAt}, ${at})`,
            lastEntryAt: sql`greatest(${tickets.lastEntryAt}, ${at})`,
          }
        : { entered: sql`${tickets.entered} - 1` },
    )
    .where(eq(tickets.id, id))
    .returning()
  if (counted && isIn) await recordChanges(tx, [ticketChange('ticket.entered', counted)])
}

/** Decides the result of a scan. `force` overrides TOO_EARLY and ALREADY_ENTERED, for people who left without
 *  a scan; it never admits without a paid ticket for this event. */
function decideResult(
  ticket: Ticket,
  { eventId, direction, force }: CheckInInput,
  isOpen: boolean,
): CheckIn['result'] {
  if (eventId && eventId !== ticket.eventId) return 'WRONG_EVENT'
  if (ticket.status === 'cancelled') return 'CANCELLED'
  if (ticket.status !== 'active') return 'UNPAID'
  if (direction === 'out') return ticket.entered > 0 ? 'OK' : 'NOT_INSIDE'
  if (force) return 'OK'
  if (!isOpen) return 'TOO_EARLY'
  return ticket.entered < ticket.admits ? 'OK' : 'ALREADY_ENTERED'
}

/** Checks a ticket of the integration's organization in or out. Returns a rejection as a result and not as a
 *  refusal, because the scanner must show it. Idempotent by nonce, whatever happened to the ticket since. Two
 *  scanners at once admit only once. The doors open `admissionHours` before the event, compared with the time
 *  of the scan.
 *  Refuses: FORBIDDEN for a channel, INVALID, IDEMPOTENCY_KEY_REUSED (DECISIONS 5). */
export async function checkInTicket(input: CheckInInput, ctx: Context): Promise<CheckedIn> {
  const { integrationId, organizationIds } = requireIntegration(ctx)
  const { nonce, direction, force } = input
  const requestHash = sha256(JSON.stringify(input))

  const decide = async (tx: Connection, scanned: Scanned | null) => {
    const now = scanned ? new Date(Number(scanned.now)) : ctx.now
    const at = scannedAt(input.at, now)
    const row = { integrationId, nonce, requestHash, direction, force, at }
    if (!scanned) return { ...row, ticketId: null, result: 'UNKNOWN', firstEnteredAt: null } as const
    const { ticket, startDate } = scanned
    const opensAt = startDate.getTime() - ctx.services.admissionHours * hour
    const result = decideResult(ticket, input, at.getTime() >= opensAt)
    if (result === 'OK') await countEntry(tx, ticket, { direction, at })
    return { ...row, ticketId: ticket.id, result, firstEnteredAt: ticket.firstEntryAt }
  }

  const scan = () =>
    checkInTransaction(ctx.db, async (tx) => {
      const [made] = await tx
        .select()
        .from(checkIns)
        .where(and(eq(checkIns.integrationId, integrationId), eq(checkIns.nonce, nonce)))
      const earlier = checkReplay(made, requestHash, 'This nonce was used for another scan.', 'nonce')
      if (earlier) return { ...earlier, replayed: true }
      const row = await decide(tx, await findScanned(tx, organizationIds, input))
      const [checkIn] = await tx.insert(checkIns).values(row).returning()
      if (!checkIn) throw new Error('the insert returned no check-in')
      return { ...checkIn, replayed: false }
    })
  return makeOnce(scan).finally(() => ctx.loaders.clear())
}
