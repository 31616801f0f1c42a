import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Connection } from '../../../database/database.ts'
import { paymentChange } from '../../payment/payment-change.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { canBecome } from '../../payment/transitions.ts'
import { tickets } from '../../ticket/table.ts'
import { moveStock, stockMoves } from '../../ticket-rate/move-stock.ts'
import { recordAvailability } from '../record-availability.ts'
import { recordChanges } from '../record-changes.ts'

/** Unpaid payment, and the status it ends with. */
export type Ending = { id: string; status: 'failed' | 'expired' | 'cancelled' }

async function endAs(tx: Connection, status: Ending['status'], endings: Ending[]): Promise<Payment[]> {
  const ids = endings.filter((ending) => ending.status === status).map(({ id }) => id)
  if (ids.length === 0) return []
  return (
    tx
      .update(payments)
      // Makes the provider session due to be closed, so that nobody can pay there any more.
      .set({ status, sessionDueAt: sql`now()` })
      .where(and(inArray(payments.id, ids), canBecome(status)))
      .returning()
  )
}

/** Ends unpaid payments and releases the stock that they hold. Requires this transaction to hold their row
 *  locks. */
export async function releaseHolds(tx: Connection, endings: Ending[]): Promise<void> {
  if (endings.length === 0) return
  const failed = await endAs(tx, 'failed', endings)
  const expired = await endAs(tx, 'expired', endings)
  await endAs(tx, 'cancelled', endings)
  // No change for cancelled payments: the client that cancels knows.
  await recordChanges(tx, [
    ...failed.map((payment) => paymentChange('payment.failed', payment)),
    ...expired.map((payment) => paymentChange('payment.expired', payment)),
  ])
  const ids = endings.map(({ id }) => id)
  const released = await tx
    .update(tickets)
    .set({ status: 'expired' })
    .where(and(inArray(tickets.paymentId, ids), eq(tickets.status, 'held')))
    .returning({ ticketRateId: tickets.ticketRateId, priceId: tickets.priceId })
  const flipped = await moveStock(tx, stockMoves(released, { held: -1 }))
  if (!flipped) throw new Error('stock of held tickets could not be released')
  await recordAvailability(tx, flipped)
}
