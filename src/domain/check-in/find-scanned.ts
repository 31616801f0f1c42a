import { and, desc, eq, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import type { Mode } from '../../shared/mode.ts'
import { events } from '../event/table.ts'
import { hasLiveCode, ticketColumns, tickets } from '../ticket/table.ts'

/** A scan at the bar. */
type Scan = {
  qrCode?: string | null | undefined
  ticketId?: string | null | undefined
  /** Supplement at this bar. */
  supplementId: string
}

/** Finds and row-locks the ticket of a scan at the bar within this organization and this mode; null if there
 *  is none. A code is unique only within its event: tickets with the supplement come first, then active ones,
 *  then those of the event nearest in time. */
export async function findScanned(tx: Connection, organizationId: string, mode: Mode, scan: Scan) {
  const { qrCode, ticketId, supplementId } = scan
  const [found] = await tx
    .select(ticketColumns)
    .from(tickets)
    .innerJoin(events, eq(events.id, tickets.eventId))
    .where(
      and(
        eq(tickets.organizationId, organizationId),
        eq(tickets.mode, mode),
        // The code of an expired ticket may have been reused.
        ticketId ? eq(tickets.id, ticketId) : and(eq(tickets.qrCode, qrCode ?? ''), hasLiveCode),
      ),
    )
    .orderBy(
      desc(sql`${tickets.supplements} @> ${JSON.stringify([{ supplementId }])}::jsonb`),
      desc(sql`${tickets.status} = 'active'`),
      sql`abs(extract(epoch from ${events.startDate} - now()))`,
      tickets.id,
    )
    .limit(1)
    .for('update', { of: tickets })
  return found ?? null
}
