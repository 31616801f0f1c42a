import { and, eq, inArray } from 'drizzle-orm'
import type { Connection } from '../database.ts'
import { tickets } from '../ticket/table.ts'
import { moveStock, stockMoves } from '../ticket-rate/move-stock.ts'
import { payments } from './table.ts'

/** Ends unpaid payments whose rows this transaction has locked, and gives back the stock that they hold. */
export async function releaseHolds(
  tx: Connection,
  paymentIds: string[],
  status: 'failed' | 'expired' | 'cancelled',
): Promise<void> {
  if (paymentIds.length === 0) return
  await tx.update(payments).set({ status }).where(inArray(payments.id, paymentIds))
  const released = await tx
    .update(tickets)
    .set({ status: 'expired' })
    .where(and(inArray(tickets.paymentId, paymentIds), eq(tickets.status, 'held')))
    .returning({ ticketRateId: tickets.ticketRateId, priceId: tickets.priceId })
  await moveStock(tx, stockMoves(released, { held: -1 }))
}
