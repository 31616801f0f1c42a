import { eq, inArray } from 'drizzle-orm'
import { recordChanges } from '../change/record-changes.ts'
import type { Connection } from '../database.ts'
import { events } from '../event/table.ts'
import type { Turned } from './move-stock.ts'
import { ticketRates } from './table.ts'

/** Tells clients of the rates among these that have sold out, or have places again. */
export async function recordAvailability(tx: Connection, turned: Turned[]): Promise<void> {
  if (turned.length === 0) return
  const usedUp = new Map(turned.map(({ id, usedUp }) => [id, usedUp]))
  const rates = await tx
    .select({ id: ticketRates.id, eventId: ticketRates.eventId, organizationId: events.organizationId })
    .from(ticketRates)
    .innerJoin(events, eq(events.id, ticketRates.eventId))
    .where(inArray(ticketRates.id, [...usedUp.keys()]))
  await recordChanges(
    tx,
    rates.map(({ id, eventId, organizationId }) => ({
      type: usedUp.get(id) ? 'rate.sold_out' : 'rate.available',
      subjectId: id,
      organizationId,
      channelId: null,
      data: { ticket_rate_id: id, event_id: eventId },
    })),
  )
}
