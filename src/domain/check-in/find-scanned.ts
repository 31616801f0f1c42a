import { and, desc, eq, getTableColumns, ne, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import type { Mode } from '../../shared/mode.ts'
import { events } from '../event/table.ts'
import { tickets } from '../ticket/table.ts'

/** A scan at the door or at the bar. */
type Scan = {
  qrCode?: string | null | undefined
  ticketId?: string | null | undefined
  /** Event at this door. */
  eventId?: string | null | undefined
  /** Supplement at this bar. */
  supplementId?: string
}

/** Finds and row-locks the ticket of a scan within these organizations and this mode; null if there is none. A code is
 *  unique only within its event: tickets of the event at the door come first, and those with the supplement
 *  at the bar, then active ones, then those of the event nearest in time. */
export async function findScanned(tx: Connection, organizationIds: string[], mode: Mode, scan: Scan) {
  const { qrCode, ticketId, eventId, supplementId } = scan
  const [found] = await tx
    .select({
      ticket: getTableColumns(tickets),
      startDate: events.startDate,
      now: sql<string>`(extract(epoch from now()) * 1000)::text`,
    })
    .from(tickets)
    .innerJoin(events, eq(events.id, tickets.eventId))
    .where(
      and(
        sql`${tickets.organizationId} = any(${sql.param(organizationIds)}::text[])`,
        eq(tickets.mode, mode),
        // The code of an expired ticket may have been reused.
        ticketId
          ? eq(tickets.id, ticketId)
          : and(eq(tickets.qrCode, qrCode ?? ''), ne(tickets.status, 'expired')),
      ),
    )
    .orderBy(
      desc(sql`${tickets.eventId} = ${eventId ?? ''}`),
      desc(sql`${tickets.supplements} @> ${JSON.stringify([{ supplementId }])}::jsonb`),
      desc(sql`${tickets.status} = 'active'`),
      sql`abs(extract(epoch from ${events.startDate} - now()))`,
      tickets.id,
    )
    .limit(1)
    .for('update', { of: tickets })
  return found ?? null
}

export type Scanned = NonNullable<Awaited<ReturnType<typeof findScanned>>>
