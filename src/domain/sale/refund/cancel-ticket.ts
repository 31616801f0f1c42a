import { and, sql } from 'drizzle-orm'
import type { Connection } from '../../../database/database.ts'
import { transaction } from '../../../database/transaction.ts'
import { type Context, requireConfidential } from '../../../request/context.ts'
import { illegalTransition, Refusal, refusal } from '../../../shared/errors.ts'
import { queueNotice } from '../../delivery/queue-notices.ts'
import { lockPayment } from '../../payment/lock-payment.ts'
import { ticketChange } from '../../ticket/body.ts'
import { isTicket, lockTicket, requireTicket, requireUnused } from '../../ticket/require-ticket.ts'
import { type Ticket, ticketColumns, tickets } from '../../ticket/table.ts'
import { ticketMayBecome, whereTicketMayBecome } from '../../ticket/transitions.ts'
import { lookupStatus } from '../../ticket/views.ts'
import { moveStock, stockMoves } from '../../ticket-rate/move-stock.ts'
import { recordAvailability, recordChanges } from '../../webhook/record-changes.ts'

/** Cancels a ticket, frees its place and records the change that clients receive. Moves no money. Requires
 *  this transaction to hold the ticket's row lock. Refuses: ALREADY_ENTERED if anybody has ever entered with
 *  it; SUPPLEMENT_REDEEMED if any of its supplements was handed out; ILLEGAL_TRANSITION if it is not active
 *  (DECISIONS 5, 9). */
export async function recordCancelled(tx: Connection, ticket: Ticket): Promise<Ticket> {
  if (!ticketMayBecome(ticket.status, 'cancelled'))
    throw new Refusal(
      illegalTransition('ticket', { id: ticket.id, status: lookupStatus(ticket) }, 'cancelled'),
    )
  requireUnused(ticket)
  if (ticket.supplements.some(({ used }) => used > 0))
    throw refusal('SUPPLEMENT_REDEEMED', 'A supplement was already handed out.')
  const [cancelled] = await tx
    .update(tickets)
    .set({ status: 'cancelled', cancelledAt: sql`now()` })
    .where(and(isTicket(ticket), whereTicketMayBecome('cancelled')))
    .returning(ticketColumns)
  if (!cancelled) throw new Error(`ticket ${ticket.id} was not cancelled under its lock`)
  await recordChanges(tx, [ticketChange('ticket.cancelled', cancelled)])
  const { organizationId, mode } = cancelled
  const flipped = await moveStock(tx, organizationId, mode, stockMoves([cancelled], { sold: -1 }))
  if (!flipped) throw new Error(`stock of ticket ${ticket.id} was not released`)
  await recordAvailability(tx, organizationId, mode, flipped)
  return cancelled
}

/** Cancels a paid ticket and frees its place at once. Moves no money. Idempotent: returns a ticket that is
 *  already cancelled unchanged. Tells attendee and payer, unless `notify` is false. Refuses: NOT_FOUND, ALREADY_ENTERED,
 *  SUPPLEMENT_REDEEMED, ILLEGAL_TRANSITION (DECISIONS 5, 9, 161). */
export async function cancelTicket(ticketId: string, notify: boolean, ctx: Context): Promise<Ticket> {
  requireConfidential(ctx)
  const found = await requireTicket(ticketId, ctx)
  const ticket = await transaction(ctx.db, async (tx) => {
    // Notices refer to the payment, which is locked before the ticket.
    await lockPayment(tx, { organizationId: found.organizationId, id: found.paymentId })
    const locked = await lockTicket(tx, found)
    if (locked.status === 'cancelled') return locked
    if (notify) await queueNotice(tx, locked, { about: 'cancellation' })
    return recordCancelled(tx, locked)
  })
  ctx.loaders.clear()
  return ticket
}
