import { and, eq, inArray, sql } from 'drizzle-orm'
import { recordChanges } from '../change/record-changes.ts'
import type { Connection } from '../database.ts'
import { tickets } from '../ticket/table.ts'
import { moveStock, stockMoves } from '../ticket-rate/move-stock.ts'
import { recordAvailability } from '../ticket-rate/record-availability.ts'
import { paymentChange } from './payment-change.ts'
import { payments } from './table.ts'
import { canBecome } from './transitions.ts'

/** Ends unpaid payments whose rows this transaction has locked, and gives back the stock that they hold. Returns
 *  whether that freed a rate or a price that was used up: then `touchCatalogue` once it is committed. */
export async function releaseHolds(
  tx: Connection,
  paymentIds: string[],
  status: 'failed' | 'expired' | 'cancelled',
): Promise<boolean> {
  if (paymentIds.length === 0) return false
  const ended = await tx
    .update(payments)
    // Nobody is to pay any more where they were sent.
    .set({ status, sessionDueAt: sql`now()` })
    .where(and(inArray(payments.id, paymentIds), canBecome(status)))
    .returning()
  // Who cancels knows.
  if (status !== 'cancelled')
    await recordChanges(
      tx,
      ended.map((payment) => paymentChange(`payment.${status}`, payment)),
    )
  const released = await tx
    .update(tickets)
    .set({ status: 'expired' })
    .where(and(inArray(tickets.paymentId, paymentIds), eq(tickets.status, 'held')))
    .returning({ ticketRateId: tickets.ticketRateId, priceId: tickets.priceId })
  const turned = await moveStock(tx, stockMoves(released, { held: -1 }))
  if (!turned) throw new Error('what was held can be given back')
  await recordAvailability(tx, turned)
  return turned.length > 0
}
