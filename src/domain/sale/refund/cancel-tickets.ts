import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { Refusal } from '../../../engine/base/errors.ts'
import { byId } from '../../../engine/base/group-by.ts'
import { hasKey } from '../../../engine/data/query.ts'
import type { Connection } from '../../../engine/database/database.ts'
import { aloneOnRow, transaction } from '../../../engine/database/transaction.ts'
import { type Context, requireConfidential } from '../../caller/context.ts'
import { recordChanges } from '../../change/record-changes.ts'
import { illegalTransition, refusal } from '../../contract/problem-codes.ts'
import { queueTicketNotices } from '../../delivery/queue-notices.ts'
import { moveStock, stockMoves } from '../../stock/move-stock.ts'
import { ticketChange } from '../../ticket/body.ts'
import { requireUnused } from '../../ticket/require-ticket.ts'
import { type Ticket, ticketColumns, tickets } from '../../ticket/table.ts'
import { lookupStatus } from '../../ticket/views.ts'
import { recordAvailability } from '../../ticket-rate/record-availability.ts'
import type { cancellationInput } from './refund-tickets.ts'
import { findNamed, lockNamed } from './tickets-of.ts'

/** Cancels tickets of one payment, all or none, frees their places and records the changes that clients receive. Moves
 *  no money. Requires this transaction to hold the row locks of the tickets. Refuses: ALREADY_ENTERED if anybody has
 *  ever entered with one; SUPPLEMENT_REDEEMED if any of their supplements was handed out; ILLEGAL_TRANSITION if one is
 *  not active (DECISIONS, states). */
export async function recordCancelled(tx: Connection, active: Ticket[]): Promise<Ticket[]> {
  const [first] = active
  if (!first) return []
  for (const ticket of active) {
    if (ticket.status !== 'active')
      throw new Refusal(illegalTransition('ticket', { ...ticket, status: lookupStatus(ticket) }, 'cancelled'))
    requireUnused(ticket)
    if (ticket.supplements.some(({ used }) => used > 0))
      throw refusal('SUPPLEMENT_REDEEMED', 'A supplement was already handed out.')
  }
  const { organizationId, mode, paymentId } = first
  const ids = active.map(({ id }) => id)
  const cancelled = await tx
    .update(tickets)
    .set({ status: 'cancelled', cancelledAt: sql`now()` })
    .where(and(hasKey(tx, tickets.id, organizationId, ids), eq(tickets.status, 'active')))
    .returning(ticketColumns)
  if (cancelled.length < ids.length)
    throw new Error(`a ticket of payment ${paymentId} was not cancelled under its lock`)
  const changes = cancelled.map((ticket) => ticketChange('ticket.cancelled', ticket))
  await recordChanges(tx, changes)
  const flipped = await moveStock(tx, organizationId, mode, stockMoves(cancelled, { sold: -1 }))
  if (!flipped) throw new Error(`stock of payment ${paymentId} was not released`)
  await recordAvailability(tx, organizationId, mode, flipped)
  return cancelled
}

/** Cancels a paid ticket, or those of a payment, all or none, and frees their places at once. Moves no money.
 *  Idempotent: returns tickets that are already cancelled unchanged. Tells attendees and payer, unless `notify` is
 *  false. Refuses: NOT_FOUND, ALREADY_ENTERED, SUPPLEMENT_REDEEMED, ILLEGAL_TRANSITION (DECISIONS, states; DECISIONS 161). */
export async function cancelTickets({ of, notify }: z.output<typeof cancellationInput>, ctx: Context) {
  requireConfidential(ctx)
  const named = await findNamed(of, ctx)
  const write = async (tx: Connection) => {
    // Notices refer to the payment, which is locked before the tickets.
    const { tickets } = await lockNamed(tx, named)
    const active = tickets.filter(({ status }) => status !== 'cancelled')
    const told = active.map((ticket) => ({ ...ticket, ticketId: ticket.id }))
    if (notify) await queueTicketNotices(tx, 'cancellation', told)
    const cancelled = byId(await recordCancelled(tx, active))
    return tickets.map((ticket) => cancelled.get(ticket.id) ?? ticket)
  }
  return aloneOnRow(ctx.db, named.paymentId, () => transaction(ctx.db, write)).finally(() =>
    ctx.loaders.clear(),
  )
}
