import { and, eq, sql } from 'drizzle-orm'
import type { Connection } from '../../../database/database.ts'
import { illegalTransition, Refusal } from '../../../shared/errors.ts'
import { type Ticket, tickets } from '../../ticket/table.ts'
import { ticketChange } from '../../ticket/ticket-change.ts'
import { ticketCanBecome, ticketMayBecome } from '../../ticket/transitions.ts'
import { lookupStatus } from '../../ticket/views.ts'
import { moveStock, type StockFlip, stockMoves } from '../../ticket-rate/move-stock.ts'
import { recordAvailability } from '../record-availability.ts'
import { recordChanges } from '../record-changes.ts'

/** A ticket that was cancelled, and the rates and prices that have places again: then `touchCatalogue` once it is
 *  committed. */
export type Cancelled = { ticket: Ticket; flipped: StockFlip[] }

/** Cancels a ticket whose row this transaction has locked, and all that follows from it: its place is free, and clients
 *  are told. No money moves. Refuses: ALREADY_ENTERED, where somebody is or was in with it; ILLEGAL_TRANSITION, where
 *  it is not active (DECISIONS 5). */
export async function recordCancelled(tx: Connection, ticket: Ticket): Promise<Cancelled> {
  if (!ticketMayBecome(ticket.status, 'cancelled'))
    throw new Refusal(illegalTransition('ticket', lookupStatus(ticket), 'cancelled'))
  if (ticket.entered > 0 || ticket.firstEntryAt)
    throw new Refusal({ code: 'ALREADY_ENTERED', message: 'Somebody was let in with this ticket.' })
  const [cancelled] = await tx
    .update(tickets)
    .set({ status: 'cancelled', cancelledAt: sql`now()` })
    .where(and(eq(tickets.id, ticket.id), ticketCanBecome('cancelled')))
    .returning()
  if (!cancelled) throw new Error('a ticket that may be cancelled is, once it is locked')
  await recordChanges(tx, [ticketChange('ticket.cancelled', cancelled)])
  const flipped = await moveStock(tx, stockMoves([cancelled], { sold: -1 }))
  if (!flipped) throw new Error('what was sold can be given back')
  await recordAvailability(tx, flipped)
  return { ticket: cancelled, flipped }
}
