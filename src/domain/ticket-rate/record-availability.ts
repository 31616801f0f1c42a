import { sql } from 'drizzle-orm'
import { anyOf, query } from '../../engine/data/query.ts'
import type { Connection } from '../../engine/database/database.ts'
import { changesShared } from '../../engine/database/transaction.ts'
import type { Mode } from '../caller/mode.ts'
import { recordChanges } from '../change/record-changes.ts'
import { changeOf } from '../change/table.ts'
import type { StockFlip } from '../stock/move-stock.ts'
import { rateChangeBody } from './body.ts'
import { ticketRates } from './table.ts'

const findEvents = query<{ id: string; eventId: string }>(
  'events_of_flipped_rates',
  () => sql`select ${ticketRates.id}, ${ticketRates.eventId} as "eventId" from ${ticketRates}
    where ${anyOf(ticketRates.id, 'keys')} order by ${ticketRates.id}`,
)

/** Records a `rate.sold_out` or `rate.available` change for each ticket rate of the organization among these,
 *  in a mode, and lets the commit invalidate the catalogue, which shows prices that flip as well. */
export async function recordAvailability(
  tx: Connection,
  organizationId: string,
  mode: Mode,
  flipped: StockFlip[],
): Promise<void> {
  if (flipped.length === 0) return
  changesShared(tx)
  const usedUp = new Map(flipped.flatMap((flip) => (flip.kind === 'rate' ? [[flip.id, flip.usedUp]] : [])))
  if (usedUp.size === 0) return
  const rates = await findEvents(tx, { keys: [...usedUp.keys()] })
  const changed = rates.map(({ id, eventId }) => {
    const type = usedUp.get(id) ? 'rate.sold_out' : 'rate.available'
    return changeOf(type, { id, organizationId, channelId: null, mode }, rateChangeBody.of({ id, eventId }))
  })
  await recordChanges(tx, changed)
}
