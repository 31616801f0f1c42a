import { invalidateCatalogue } from '../../../database/catalogue-version.ts'
import { type Context, requireCaller } from '../../../request/context.ts'
import { lockTicket } from '../../ticket/lock-ticket.ts'
import { requireTicket } from '../../ticket/require-ticket.ts'
import type { Ticket } from '../../ticket/table.ts'
import { type CancelledTicket, recordCancelled } from './record-cancelled.ts'

/** Cancels a paid ticket and frees its place at once. Moves no money. Idempotent: returns a ticket that is
 *  already cancelled unchanged. Refuses: NOT_FOUND, ALREADY_ENTERED, ILLEGAL_TRANSITION (DECISIONS 5). */
export async function cancelTicket(ticketId: string, ctx: Context): Promise<Ticket> {
  requireCaller(ctx)
  const { db } = ctx
  const { id } = await requireTicket(ticketId, ctx)
  const { ticket, flipped } = await db.transaction(async (tx): Promise<CancelledTicket> => {
    const locked = await lockTicket(tx, id)
    return locked.status === 'cancelled' ? { ticket: locked, flipped: [] } : recordCancelled(tx, locked)
  })
  if (flipped.length > 0) invalidateCatalogue(db)
  ctx.loaders.clear()
  return ticket
}
