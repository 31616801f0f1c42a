import { z } from 'zod'
import type { NewChange } from '../change/table.ts'
import type { Ticket } from './table.ts'
import { lookupStatus, lookupStatuses } from './views.ts'

const state = {
  ticket_id: z.string().describe('Ticket identifier.'),
  payment_id: z.string().describe('Identifier of the payment.'),
  event_id: z.string().describe('Identifier of the event.'),
  ticket_rate_id: z.string().describe('Identifier of the ticket rate.'),
  status: z.enum(lookupStatuses).describe('Ticket status, as in the lookup.'),
  for: z.int().describe('Number of people that the ticket admits.'),
  enter: z.int().describe('Number of people inside now.'),
}

/** JSON shape of a ticket in changes, in the feed and in webhooks (DECISIONS 7). Contains no personal data. */
export const ticketChangeBody = z
  .object(state)
  .meta({ id: 'TicketState', description: 'State of a ticket right after a change.' })

/** Shape of a ticket in the change of an entry. */
export const ticketEnteredBody = z
  .object({ ...state, people: z.int().min(1).describe('Number of people who entered.') })
  .meta({ id: 'TicketEntered', description: 'State of a ticket right after an entry.' })

/** Shape of a ticket in the change of a redemption. */
export const supplementRedeemedBody = z
  .object({
    ...state,
    supplement_id: z.string().describe('Identifier of the supplement.'),
    redeemed: z.int().min(1).describe('Number of items that were handed out.'),
    left: z.int().describe('Number of items that are left.'),
  })
  .meta({ id: 'SupplementRedeemed', description: 'State of a ticket right after a redemption.' })

type TicketChangeBody = z.output<typeof ticketChangeBody>

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
  } satisfies TicketChangeBody,
})
