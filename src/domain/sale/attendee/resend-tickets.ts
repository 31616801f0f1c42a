import { transaction } from '../../../database/transaction.ts'
import { type Context, requireConfidential } from '../../../request/context.ts'
import { queueAgain, requireResends } from '../../delivery/queue-deliveries.ts'
import { requirePayment } from '../../payment/loaders.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { isAnonymized } from '../../ticket/anonymized.ts'
import { findTicketsOf } from '../../ticket/loaders.ts'
import { lockTickets, requireTicket } from '../../ticket/require-ticket.ts'
import type { Ticket } from '../../ticket/table.ts'
import type { TicketResending } from './attendee-input.ts'
import { statusRefusal } from './attendee-rules.ts'

/** Tickets that are sent again, and the number of mails and messages that were queued for them. */
export type Resent = { tickets: Ticket[]; deliveries: number }

async function findNamed({ ticketId, paymentId }: TicketResending, ctx: Context): Promise<Ticket[]> {
  if (ticketId != null) return [await requireTicket(ticketId, ctx)]
  return findTicketsOf(ctx.db, await requirePayment(paymentId ?? '', ctx))
}

/** Sends a ticket, or all active tickets of a payment, to their attendees again: a mail for each ticket, and a
 *  message where the attendee has a phone. All or none. Works whether or not the checkout asked for mails.
 *  Refuses: NOT_FOUND; ILLEGAL_TRANSITION if no ticket is active, or those that are have no attendee any
 *  more; TOO_MANY_RESENDS if one of them was sent again or transferred five times within 24 hours, by the database's clock
 *  (DECISIONS 9). */
export async function resendTickets(input: TicketResending, ctx: Context): Promise<Resent> {
  requireConfidential(ctx)
  const named = await findNamed(input, ctx)
  const [first] = named
  if (!first) throw new Error('a payment has no tickets')
  const { organizationId, paymentId } = first
  const resent = await transaction(ctx.db, async (tx) => {
    await lockPayment(tx, { organizationId, id: paymentId })
    const locked = await lockTickets(tx, { organizationId, keys: named.map(({ id }) => id) })
    const active = locked
      .filter((ticket) => ticket.status === 'active' && !isAnonymized(ticket))
      .sort((one, other) => one.position - other.position)
    if (active.length === 0) throw statusRefusal(locked[0] ?? first, 'resent')
    await requireResends(tx, active)
    return { tickets: active, deliveries: await queueAgain(tx, active) }
  })
  ctx.loaders.clear()
  return resent
}
