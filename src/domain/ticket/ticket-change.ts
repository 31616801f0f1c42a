import type { NewChange } from '../change/table.ts'
import type { Ticket } from './table.ts'
import { lookupStatus } from './views.ts'

/** Columns of a ticket that clients are told of. */
type ToldTicket = Pick<
  Ticket,
  | 'id'
  | 'organizationId'
  | 'channelId'
  | 'paymentId'
  | 'eventId'
  | 'ticketRateId'
  | 'status'
  | 'admits'
  | 'entered'
>

type TicketChangeType = Extract<NewChange['type'], `ticket.${string}`>

/** What clients are told of a ticket, as it is now, in the words of the lookup: nothing of a person,
 *  and not its code. */
export const ticketChange = (type: TicketChangeType, ticket: ToldTicket): NewChange => ({
  type,
  subjectId: ticket.id,
  organizationId: ticket.organizationId,
  channelId: ticket.channelId,
  data: {
    ticket_id: ticket.id,
    payment_id: ticket.paymentId,
    event_id: ticket.eventId,
    ticket_rate_id: ticket.ticketRateId,
    status: lookupStatus(ticket),
    for: ticket.admits,
    enter: ticket.entered,
  },
})
