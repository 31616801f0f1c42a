import { transaction } from '../../../database/transaction.ts'
import { type Context, requireCaller } from '../../../request/context.ts'
import { lockTicket, requireTicket } from '../../ticket/require-ticket.ts'
import type { Ticket } from '../../ticket/table.ts'
import { recordCancelled } from './record-cancelled.ts'

/** Cancels a paid ticket and frees its place at once. Moves no money. Idempotent: returns a ticket that is
 *  already cancelled unchanged. Refuses: NOT_FOUND, ALREADY_ENTERED, ILLEGAL_TRANSITION (DECISIONS 5). */
export async function cancelTicket(ticketId: string, ctx: Context): Promise<Ticket> {
  requireCaller(ctx)
  const { db } = ctx
  const { id } = await requireTicket(ticketId, ctx)
  const ticket = await transaction(db, async (tx) => {
    const locked = await lockTicket(tx, id)
    return locked.status === 'cancelled' ? locked : recordCancelled(tx, locked)
  })
  ctx.loaders.clear()
  return ticket
}
