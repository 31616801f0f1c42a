import { and, desc, eq, sql } from 'drizzle-orm'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { aloneOnRow } from '../../../engine/database/transaction.ts'
import { type Context, requireChannel } from '../../caller/context.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { queueTicketNotices } from '../../delivery/queue-notices.ts'
import { events } from '../../event/table.ts'
import { type RefundAttempt, refunds } from '../../refund/table.ts'
import { requireTicket, wasTransferred } from '../../ticket/require-ticket.ts'
import type { Ticket } from '../../ticket/table.ts'
import { hasWarranty } from '../../ticket/views.ts'
import { warrantyEnd } from '../../ticket-rate/sale-rules.ts'
import { recordCancelled } from './cancel-tickets.ts'
import { lockNamed } from './named-tickets.ts'
import { attemptRefunds, insertRefunds, openLedger, settleByHand } from './open-refunds.ts'
import { refundTransaction } from './refund-limits.ts'

async function findWarrantyRefund(tx: Connection, { id, organizationId }: Ticket) {
  const isOfTicket = and(eq(refunds.organizationId, organizationId), eq(refunds.ticketId, id))
  const [last] = await tx
    .select()
    .from(refunds)
    .where(and(isOfTicket, eq(refunds.reason, 'WARRANTY')))
    .orderBy(desc(refunds.createdAt), desc(refunds.id))
    .limit(1)
  return last
}

async function checkWarranty(tx: Connection, ticket: Ticket): Promise<void> {
  if (!hasWarranty(ticket)) throw refusal('NO_WARRANTY', 'This ticket has no warranty.')
  const now = sql<Date>`${nowMs}`.mapWith(events.startDate)
  const [found] = await tx
    .select({ startDate: events.startDate, now, isTransferred: wasTransferred(ticket) })
    .from(events)
    .where(eq(events.id, ticket.eventId))
  if (!found) throw new Error(`event ${ticket.eventId} not found`)
  if (found.isTransferred)
    throw refusal('TICKET_TRANSFERRED', 'The ticket was given to another person, which ended its warranty.')
  const end = warrantyEnd(found, ticket)
  const facts = { validUntil: end.toISOString() }
  if (end <= found.now)
    throw refusal('WARRANTY_ENDED', 'The warranty of this ticket has ended.', undefined, facts)
}

/** Returns a ticket of the channel under its warranty: cancels it and refunds the amount paid, minus the
 *  price of the warranty and earlier refunds. Idempotent: a repeated request returns the same refund, or
 *  opens another one if that has failed. Tells attendee and payer, unless `notify` is false. Refuses: NOT_FOUND, NO_WARRANTY, TICKET_TRANSFERRED,
 *  WARRANTY_ENDED by the database's clock, ILLEGAL_TRANSITION, ALREADY_ENTERED, SUPPLEMENT_REDEEMED, REFUND_TOO_HIGH if nothing is left to
 *  refund. */
export async function returnTicket(ticketId: string, notify: boolean, ctx: Context): Promise<RefundAttempt> {
  requireChannel(ctx)
  const found = await requireTicket(ticketId, ctx)
  const write = async (tx: Connection) => {
    const { payment, tickets } = await lockNamed(tx, { ...found, ids: [ticketId] })
    const [ticket] = tickets
    if (!ticket) throw new Error(`ticket ${ticketId} not found`)
    const earlier = await findWarrantyRefund(tx, ticket)
    if (earlier && earlier.status !== 'failed') return { refunds: [earlier], isNew: false }
    if (!earlier) await checkWarranty(tx, ticket)
    const enter = await openLedger(tx, payment.organizationId, [payment.id])
    const opened = await insertRefunds(tx, enter({ payment, tickets, reason: 'WARRANTY' }))
    // The ticket was cancelled with an earlier refund, and that was told.
    if (!earlier && notify) await queueTicketNotices(tx, 'cancellation', opened)
    if (!earlier) await recordCancelled(tx, tickets)
    return { refunds: await settleByHand(tx, new Map([[payment.id, payment]]), opened), isNew: true }
  }
  const opened = await aloneOnRow(ctx.db, found.paymentId, () => refundTransaction(ctx.db, write))
  const [refund] = await attemptRefunds(opened, ctx)
  if (!refund) throw new Error(`the refund of ticket ${ticketId} was not returned`)
  return refund
}
