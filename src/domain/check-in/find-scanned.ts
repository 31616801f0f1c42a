import { and, desc, eq, getTableColumns, ne, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { events } from '../event/table.ts'
import { tickets } from '../ticket/table.ts'
import type { CheckInInput } from './check-in-input.ts'

/** The ticket of an organization that a scan is of, whose row stays locked until the transaction ends. A code is unique
 *  within its event only: at the door of an event it is that event's, elsewhere that of the event which is nearest in
 *  time; one that still admits before one that does not. Null where there is none. */
export async function findScanned(tx: Connection, organizationIds: string[], input: CheckInInput) {
  const { qrCode, ticketId, eventId } = input
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
        // A code that has expired is free again, and may be anybody's.
        ticketId
          ? eq(tickets.id, ticketId)
          : and(eq(tickets.qrCode, qrCode ?? ''), ne(tickets.status, 'expired')),
      ),
    )
    .orderBy(
      desc(sql`${tickets.eventId} = ${eventId ?? ''}`),
      desc(sql`${tickets.status} = 'active'`),
      sql`abs(extract(epoch from ${events.startDate} - now()))`,
      tickets.id,
    )
    .limit(1)
    .for('update', { of: tickets })
  return found ?? null
}

export type Scanned = NonNullable<Awaited<ReturnType<typeof findScanned>>>
