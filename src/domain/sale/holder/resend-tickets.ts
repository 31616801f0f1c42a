import { and, asc, eq } from 'drizzle-orm'
import { transaction } from '../../../database/transaction.ts'
import { type Context, requireConfidential } from '../../../request/context.ts'
import { queueAgain, requireResends } from '../../delivery/queue-again.ts'
import { requirePayment } from '../../payment/loaders.ts'
import { lockPayment, type PaymentName } from '../../payment/lock-payment.ts'
import { isAnonymized } from '../../ticket/anonymized.ts'
import { requireTicket } from '../../ticket/require-ticket.ts'
import { type Ticket, tickets } from '../../ticket/table.ts'
import type { TicketResending } from './holder-input.ts'
import { statusRefusal } from './holder-rules.ts'

/** Tickets that are sent again, and the number of mails and messages that were queued for them. */
export type Resent = { tickets: Ticket[]; deliveries: number }

async function findPaymentOf({ ticketId, paymentId }: TicketResending, ctx: Context): Promise<PaymentName> {
  if (ticketId == null) return requirePayment(paymentId ?? '', ctx)
  const ticket = await requireTicket(ticketId, ctx)
  return { id: ticket.paymentId, organizationId: ticket.organizationId }
}

/** Sends a ticket, or all active tickets of a payment, to their holders again: a mail for each ticket, and a
 *  message where the holder has a phone. All or none. Works whether or not the checkout asked for mails.
 *  Refuses: NOT_FOUND; ILLEGAL_TRANSITION if no ticket is active, or those that are have no holder any
 *  more; TOO_MANY_RESENDS if one of them was sent
 *  again or transferred five times within 24 hours, by the database's clock (DECISIONS 9). */
export async function resendTickets(input: TicketResending, ctx: Context): Promise<Resent> {
  requireConfidential(ctx)
  const payment = await findPaymentOf(input, ctx)
  const { ticketId } = input
  const resent = await transaction(ctx.db, async (tx) => {
    const { status } = await lockPayment(tx, payment)
    const locked = await tx
      .select()
      .from(tickets)
      .where(
        and(
          eq(tickets.organizationId, payment.organizationId),
          eq(tickets.paymentId, payment.id),
          ticketId != null ? eq(tickets.id, ticketId) : undefined,
        ),
      )
      .orderBy(asc(tickets.id))
      .for('update')
    const active = locked
      .filter((ticket) => ticket.status === 'active' && !isAnonymized(ticket))
      .sort((one, other) => one.position - other.position)
    const [first] = locked
    if (!first) throw new Error(`payment ${payment.id} is ${status} and has no tickets`)
    if (active.length === 0) throw statusRefusal(first, 'resent')
    await requireResends(tx, active)
    return { tickets: active, deliveries: await queueAgain(tx, active) }
  })
  ctx.loaders.clear()
  return resent
}
