import { and, eq, exists, ne, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import type { Connection } from '../database.ts'
import { newId, newQrCode } from '../ids.ts'
import { queueRefund } from '../refund/queue-refund.ts'
import { tickets } from '../ticket/table.ts'
import { lockPayment } from './lock-payment.ts'
import type { Money } from './provider.ts'
import { recordPaid } from './record-paid.ts'
import { charges, type Payment } from './table.ts'

/** How a payment stands after something became of it, and whether that must show at once: then `touchCatalogue` once it
 *  is committed. */
export type Settled = { status: Payment['status']; touched: boolean }

// Codes that expired tickets had may have been given to others meanwhile: these get new ones.
async function renewTakenCodes(tx: Connection, paymentId: string): Promise<void> {
  const other = alias(tickets, 'other')
  const taken = await tx
    .select({ id: tickets.id })
    .from(tickets)
    .where(
      and(
        eq(tickets.paymentId, paymentId),
        exists(
          tx
            .select({ one: sql`1` })
            .from(other)
            .where(
              and(
                eq(other.eventId, tickets.eventId),
                eq(other.qrCode, tickets.qrCode),
                ne(other.status, 'expired'),
                ne(other.id, tickets.id),
              ),
            ),
        ),
      ),
    )
  for (const { id } of taken) await tx.update(tickets).set({ qrCode: newQrCode() }).where(eq(tickets.id, id))
}

/** Takes note of money in the transaction of whatever told of it, once for each reference. It pays what is open; what
 *  is over it claims again, and goes back by itself where there are not enough places left. It goes back as well where
 *  the checkout was cancelled, and where it was paid already (DECISIONS 5). */
export async function receiveMoney(tx: Connection, paymentId: string, money: Money): Promise<Settled> {
  const payment = await lockPayment(tx, paymentId)
  const { status } = payment
  const [charge] = await tx
    .insert(charges)
    .values({ id: newId('cha'), paymentId, ...money })
    .onConflictDoNothing()
    .returning()
  // It was told before.
  if (!charge) return { status, touched: false }
  const giveBack = async (reason: Parameters<typeof queueRefund>[3]): Promise<Settled> => {
    await queueRefund(tx, payment, charge, reason)
    return { status, touched: false }
  }
  if (status === 'cancelled') return giveBack('CANCELLED')
  const isLate = status === 'failed' || status === 'expired'
  if (!isLate && status !== 'pending' && status !== 'processing') return giveBack('PAID_TWICE')
  if (isLate) await renewTakenCodes(tx, paymentId)
  const paid = await recordPaid(tx, [paymentId], isLate ? 'expired' : 'held')
  if (!paid) return giveBack('LATE_NO_CAPACITY')
  return { status: 'paid', touched: paid.turned.length > 0 }
}
