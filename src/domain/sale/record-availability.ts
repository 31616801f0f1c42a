import { inArray, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { changesCatalogue } from '../../database/transaction.ts'
import type { StockFlip } from '../ticket-rate/move-stock.ts'
import { ticketRates } from '../ticket-rate/table.ts'
import { recordChanges } from './record-changes.ts'

const data = sql<
  Record<string, unknown>
>`jsonb_build_object('ticket_rate_id', ${ticketRates.id}, 'event_id', ${ticketRates.eventId})`

/** Records a `rate.sold_out` or `rate.available` change for each ticket rate among these, and lets the
 *  commit invalidate the catalogue, which shows prices that flip as well. */
export async function recordAvailability(tx: Connection, flipped: StockFlip[]): Promise<void> {
  if (flipped.length === 0) return
  changesCatalogue(tx)
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
