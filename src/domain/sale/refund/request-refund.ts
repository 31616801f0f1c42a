import { and, desc, eq, sql } from 'drizzle-orm'
import { nowMs } from '../../../data/leased-jobs.ts'
import { invalidateCatalogue } from '../../../database/catalogue-version.ts'
import type { Connection } from '../../../database/database.ts'
import { type Context, requireChannel } from '../../../request/context.ts'
import { Refusal } from '../../../shared/errors.ts'
import { events } from '../../event/table.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { type Refund, refunds } from '../../refund/table.ts'
import { lockTicket } from '../../ticket/lock-ticket.ts'
import { requireTicket } from '../../ticket/require-ticket.ts'
import type { Ticket } from '../../ticket/table.ts'
import { giveBackAtOnce } from './give-back.ts'
import { openRefund } from './open-refund.ts'
import { recordCancelled } from './record-cancelled.ts'
import { refundTransaction } from './refund-transaction.ts'

async function findAsked(tx: Connection, ticketId: string): Promise<Refund | null> {
  const [last] = await tx
    .select()
    .from(refunds)
    .where(and(eq(refunds.ticketId, ticketId), eq(refunds.reason, 'WARRANTY')))
    .orderBy(desc(refunds.createdAt), desc(refunds.id))
    .limit(1)
  return last ?? null
}

async function checkWarranty(
  tx: Connection,
  { eventId, warrantyHours, warrantyAmount }: Ticket,
): Promise<void> {
  if (warrantyHours === 0 && warrantyAmount === 0)
    throw new Refusal({ code: 'NO_WARRANTY', message: 'This ticket was bought without a warranty.' })
  const end = sql`${events.startDate} - ${warrantyHours} * interval '1 hour'`
  const [warranty] = await tx
    .select({
      validUntil: sql<Date>`${end}`.mapWith(events.startDate),
      isOver: sql<boolean>`${end} <= ${nowMs}`,
    })
    .from(events)
    .where(eq(events.id, eventId))
  if (!warranty) throw new Error('a ticket is for an event')
  if (warranty.isOver)
    throw new Refusal({
      code: 'WARRANTY_ENDED',
      message: 'The warranty of this ticket is over.',
      facts: { validUntil: warranty.validUntil.toISOString() },
    })
}

/** Gives a ticket of the channel's back by its warranty: it is cancelled, and what was paid for it goes back but for
 *  the warranty's own price and what went back before, all in one. Asked again it is the same refund, and another
 *  attempt only where that has failed. Refuses: NOT_FOUND, NO_WARRANTY, WARRANTY_ENDED by the database's clock,
 *  ILLEGAL_TRANSITION, ALREADY_ENTERED, REFUND_TOO_HIGH where nothing is left. */
export async function requestRefund(ticketId: string, ctx: Context): Promise<Refund> {
  requireChannel(ctx)
  const { db, provider } = ctx.services
  const { id, paymentId } = await requireTicket(ticketId, ctx)
  const { refund, isNew, flipped } = await refundTransaction(db, async (tx) => {
    const payment = await lockPayment(tx, paymentId)
    const ticket = await lockTicket(tx, id)
    const asked = await findAsked(tx, id)
    if (asked && asked.status !== 'failed') return { refund: asked, isNew: false, flipped: [] }
    if (!asked) await checkWarranty(tx, ticket)
    const wanted = { reason: 'WARRANTY', kept: ticket.warrantyAmount } as const
    const refund = await openRefund(tx, payment, ticket, wanted)
    // The first attempt has given the ticket back.
    if (asked) return { refund, isNew: true, flipped: [] }
    const { flipped } = await recordCancelled(tx, ticket)
    return { refund, isNew: true, flipped }
  })
  if (flipped.length > 0) invalidateCatalogue(db)
  const given = isNew ? await giveBackAtOnce(db, provider, refund) : refund
  ctx.loaders.clear()
  return given
}
