import type { NewChange } from '../change/table.ts'
import type { Ticket } from './table.ts'
import { lookupStatus } from './views.ts'

/** Columns of a ticket that a change contains. */
type ChangedTicket = Pick<
  Ticket,
  | 'id'
  | 'organizationId'
  | 'channelId'
  | 'mode'
  | 'paymentId'
  | 'eventId'
  | 'ticketRateId'
  | 'status'
  | 'admits'
  | 'entered'
>

type TicketChangeType = Extract<NewChange['type'], `ticket.${string}`>

/** Builds the change of a ticket from its current state, with the field names of the REST lookup, and facts
 *  of the change itself. Contains no personal data and no code. */
export const ticketChange = (
  type: TicketChangeType,
  ticket: ChangedTicket,
  facts: Record<string, string | number> = {},
): NewChange => ({
  type,
  subjectId: ticket.id,
  organizationId: ticket.organizationId,
  channelId: ticket.channelId,
  mode: ticket.mode,
  data: {
    ...(ticket.mode === 'test' && { test: true }),
    ticket_id: ticket.id,
    payment_id: ticket.paymentId,
    event_id: ticket.eventId,
    ticket_rate_id: ticket.ticketRateId,
    status: lookupStatus(ticket),
    for: ticket.admits,
    enter: ticket.entered,
    ...facts,
  },
})
