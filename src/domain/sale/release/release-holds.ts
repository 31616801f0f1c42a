import { and, eq } from 'drizzle-orm'
import { groupBy } from '../../../engine/base/group-by.ts'
import { hasKey } from '../../../engine/data/query.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { announceOnCommit } from '../../../engine/database/transaction.ts'
import { modes } from '../../caller/mode.ts'
import { recordChanges } from '../../change/record-changes.ts'
import { paymentChange } from '../../payment/body.ts'
import { arePayments, type PaymentName } from '../../payment/lock-payment.ts'
import { closeSessionsNow, dropExpiries } from '../../payment/queue/follow-payments.ts'
import { type Payment, payments } from '../../payment/table.ts'
import { wherePaymentMayBecome } from '../../payment/transitions.ts'
import { moveStock, stockMoves } from '../../stock/move-stock.ts'
import { tickets } from '../../ticket/table.ts'
import { recordAvailability } from '../../ticket-rate/record-availability.ts'

/** Unpaid payment, and the status it ends with. */
export type Ending = PaymentName & { status: 'failed' | 'expired' | 'cancelled' }

/** Ends unpaid payments of one organization and releases the stock that they hold. Requires this transaction
 *  to hold their row locks. */
export async function releaseHolds(tx: Connection, endings: Ending[]): Promise<void> {
  const [first] = endings
  if (!first) return
  const { organizationId } = first
  const ended: Payment[] = []
  for (const status of ['failed', 'expired', 'cancelled'] as const) {
    const ids = endings.filter((ending) => ending.status === status).map(({ id }) => id)
    const areEnding = and(arePayments(tx, organizationId, ids), wherePaymentMayBecome(status))
    if (ids.length > 0)
      ended.push(...(await tx.update(payments).set({ status }).where(areEnding).returning()))
  }
  const ids = endings.map(({ id }) => id)
  announceOnCommit(tx, 'payments', ids)
  const released = await tx
    .update(tickets)
    .set({ status: 'expired' })
    .where(and(hasKey(tx, tickets.paymentId, organizationId, ids), eq(tickets.status, 'held')))
    .returning()
  const ticketsOf = groupBy(released, ({ paymentId }) => paymentId)
  // No change for cancelled payments: the client that cancels knows.
  const changes = ended.flatMap((payment) =>
    payment.status === 'failed' || payment.status === 'expired'
      ? paymentChange(`payment.${payment.status}`, payment, ticketsOf.get(payment.id) ?? [])
      : [],
  )
  await recordChanges(tx, changes)
  await dropExpiries(tx, ended, released)
  // Nobody can pay there any more.
  await closeSessionsNow(tx, ended)
  // In one order, so that two transactions can't deadlock.
  for (const mode of modes) {
    const freed = released.filter((ticket) => ticket.mode === mode)
    const flipped = await moveStock(tx, organizationId, mode, stockMoves(freed, { held: -1 }))
    if (!flipped) throw new Error('stock of held tickets could not be released')
    await recordAvailability(tx, organizationId, mode, flipped)
  }
}
