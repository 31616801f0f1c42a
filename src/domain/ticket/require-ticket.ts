import type { Context } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import { ticketById } from './loaders.ts'
import type { LookupTicket } from './table.ts'

/** Loads a ticket of the caller. Refuses: NOT_FOUND, also for somebody else's ticket (DECISIONS 2). */
export async function requireTicket(id: string, { loaders }: Context): Promise<LookupTicket> {
  const ticket = await loaders.load(ticketById, id)
  if (!ticket)
    throw new Refusal({ code: 'NOT_FOUND', message: 'There is no such ticket.', path: ['ticketId'] })
  return ticket
}
