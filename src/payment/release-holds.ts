import { and, eq, inArray } from 'drizzle-orm'
import type { Connection } from '../database.ts'
import { tickets } from '../ticket/table.ts'
import { moveStock, stockMoves } from '../ticket-rate/move-stock.ts'
import { payments } from './table.ts'

/** Ends unpaid payments whose rows this transaction has locked, and gives back the stock that they hold. Returns whether
 *  that freed a rate or a price that was used up: then `touchCatalogue` once it is committed. */
export async function releaseHolds(
  tx: Connection,
  paymentIds: string[],
  status: 'failed' | 'expired' | 'cancelled',
): Promise<boolean> {
  if (paymentIds.length === 0) return false
  await tx.update(payments).set({ status }).where(inArray(payments.id, paymentIds))
  const released = await tx
    .update(tickets)
    .set({ status: 'expired' })
    .where(and(inArray(tickets.paymentId, paymentIds), eq(tickets.status, 'held')))
    .returning({ ticketRateId: tickets.ticketRateId, priceId: tickets.priceId })
  return moveStock(tx, stockMoves(released, { held: -1 }))
}
