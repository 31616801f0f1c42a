import { changeOf, type NewChange } from '../change/table.ts'
import { ticketChangeBody } from './body.ts'
import type { Ticket } from './table.ts'

/** Columns of a ticket that a change contains. */
type ChangedTicket = Parameters<typeof ticketChangeBody.of>[0] &
  Pick<Ticket, 'organizationId' | 'channelId' | 'mode'>

type TicketChangeType = Extract<NewChange['type'], `ticket.${string}`>

/** Builds the change of a ticket from its current state, with the field names of the REST lookup, and facts
 *  of the change itself. Contains no personal data and no code. */
export const ticketChange = (
  type: TicketChangeType,
  ticket: ChangedTicket,
  facts?: Record<string, string | number>,
): NewChange => changeOf(type, ticket, ticketChangeBody.of(ticket), facts)
