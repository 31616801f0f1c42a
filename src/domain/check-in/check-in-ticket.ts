import { and, eq, sql } from 'drizzle-orm'
import { boundedTransactions } from '../../data/bulkhead.ts'
import { type Connection, isDuplicate } from '../../database/database.ts'
import { type Context, requireIntegration } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import { sha256 } from '../../shared/ids.ts'
import { recordChanges } from '../sale/record-changes.ts'
import { type Ticket, tickets } from '../ticket/table.ts'
import { ticketChange } from '../ticket/ticket-change.ts'
import type { CheckInInput } from './check-in-input.ts'
import { decideCheckIn } from './decide-check-in.ts'
import { findScanned, type Scanned } from './find-scanned.ts'
import { type CheckIn, checkIns } from './table.ts'

/** A check-in, and whether it is an earlier one answered again under its nonce. */
export type CheckedIn = CheckIn & { replayed: boolean }

// Scanners at many doors come in a rush: the other connections are left to everybody else.
const checkInTransaction = boundedTransactions({ maxAtOnce: 3, maxWaiting: 500 })

// Clocks at doors are not exact.
const maxAhead = 5 * 60_000
const hour = 3_600_000

async function replay(
  tx: Connection,
  integrationId: string,
  nonce: string,
  requestHash: string,
): Promise<CheckedIn | null> {
  const [made] = await tx
    .select()
    .from(checkIns)
    .where(and(eq(checkIns.integrationId, integrationId), eq(checkIns.nonce, nonce)))
  if (!made) return null
  if (made.requestHash !== requestHash)
    throw new Refusal({
      code: 'IDEMPOTENCY_KEY_REUSED',
      message: 'Another scan was made under this nonce.',
      path: ['nonce'],
    })
  return { ...made, replayed: true }
}

function scannedAt(given: Date | null | undefined, now: Date): Date {
  if (given && given.getTime() > now.getTime() + maxAhead)
    throw new Refusal({ code: 'INVALID', message: 'at must not be in the future.', path: ['at'] })
  return given ?? now
}

/** Counts somebody in or out. The moments are those of the scans, which may come in any order. */
async function count(tx: Connection, { id, admits }: Ticket, scan: { direction: 'in' | 'out'; at: Date }) {
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

/** Lets in or out with a ticket of the integration's organization, and says how that went: a result and no refusal,
 *  because people stand at the door. The same nonce and scan are answered the same again, whatever came of the ticket
 *  since. Two scanners at once let in once. The doors open `admissionHours` before the event, by the time of the scan.
 *  Refuses: FORBIDDEN for a channel, INVALID, IDEMPOTENCY_KEY_REUSED (issue: the door; DECISIONS 5). */
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
    const opensAt = new Date(startDate.getTime() - ctx.services.admissionHours * hour)
    const result = decideCheckIn(ticket, { ...input, at }, { opensAt })
    if (result === 'OK') await count(tx, ticket, { direction, at })
    return { ...row, ticketId: ticket.id, result, firstEnteredAt: ticket.firstEntryAt }
  }

  const scan = () =>
    checkInTransaction(ctx.db, async (tx) => {
      const again = await replay(tx, integrationId, nonce, requestHash)
      if (again) return again
      const row = await decide(tx, await findScanned(tx, organizationIds, input))
      const [made] = await tx.insert(checkIns).values(row).returning()
      if (!made) throw new Error('a check-in is written')
      return { ...made, replayed: false }
    })
  try {
    return await scan()
  } catch (error) {
    // The same nonce came twice at once, and the other was first.
    if (isDuplicate(error)) return scan()
    throw error
  } finally {
    ctx.loaders.clear()
  }
}
