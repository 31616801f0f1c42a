import type { Context } from '../../request/context.ts'
import { Refusal } from '../../shared/errors.ts'
import { ticketById } from './loaders.ts'
import type { LookupTicket } from './table.ts'

/** A ticket of the caller's. Refuses: NOT_FOUND, for somebody else's too (DECISIONS 2). */
export async function requireTicket(id: string, { loaders }: Context): Promise<LookupTicket> {
  const ticket = await loaders.load(ticketById, id)
  if (!ticket)
    throw new Refusal({ code: 'NOT_FOUND', message: 'There is no such ticket.', path: ['ticketId'] })
  return ticket
}
