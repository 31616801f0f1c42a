import { inArray, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import type { StockFlip } from '../ticket-rate/move-stock.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { recordChanges } from './record-changes.ts'

const data = sql<
  Record<string, unknown>
>`jsonb_build_object('ticket_rate_id', ${ticketRates.id}, 'event_id', ${ticketRates.eventId})`

/** Tells clients of the rates among these that have sold out, or have places again. */
export async function recordAvailability(tx: Connection, flipped: StockFlip[]): Promise<void> {
  if (flipped.length === 0) return
  const usedUp = new Map(flipped.map(({ id, usedUp }) => [id, usedUp]))
  const rates = await tx
    .select({ id: ticketRates.id, organizationId: ticketRates.organizationId, data })
    .from(ticketRates)
    .where(inArray(ticketRates.id, [...usedUp.keys()]))
  await recordChanges(
    tx,
    rates.map(({ id, organizationId, data }) => ({
      type: usedUp.get(id) ? 'rate.sold_out' : 'rate.available',
      subjectId: id,
      organizationId,
      channelId: null,
      data,
    })),
  )
}
