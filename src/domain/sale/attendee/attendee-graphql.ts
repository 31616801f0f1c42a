import { parseRequest } from '../../../engine/base/parse.ts'
import { inputOf } from '../../../engine/graphql/input-of.ts'
import { mutation, oneObject } from '../../../engine/graphql/mutation-result.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { maxTickets } from '../../ticket-rate/table.ts'
import { attendeeColumns } from '../checkout/items-input.ts'
import {
  attendeeChanges,
  attendeeChangesBatch,
  changedColumns,
  maxCorrections,
  ticketResending,
  ticketTransfer,
} from './attendee-input.ts'
import { resendTickets } from './resend-tickets.ts'
import { transferTicket } from './transfer-ticket.ts'
import { updateAttendees } from './update-attendee.ts'

inputOf('AttendeeChangesInput', attendeeChanges)

mutation('updateAttendees', {
  description:
    'Corrects what is known of the attendees of `PENDING` or `ACTIVATED` tickets, until somebody has entered with them: all or none. A channel corrects tickets that it sold. Sends nothing: see `resendTickets`.',
  input: attendeeChangesBatch,
  parse: parseRequest,
  needs: { caller: 'confidential', scope: 'sales' },
  complexity: ({ input }) => ({ field: 1_000, multiplier: Math.min(maxCorrections, input.attendees.length) }),
  run: async ({ attendees }, ctx) => ({ tickets: await updateAttendees(attendees.map(changedColumns), ctx) }),
  payload: 'Corrected tickets.',
  fields: (t) => ({
    tickets: t.expose('tickets', {
      type: [TicketRef],
      complexity: { field: 1, multiplier: 1 },
      description: 'Corrected tickets, in the order of the input.',
    }),
  }),
})

mutation('transferTicket', {
  description:
    'Gives an `ACTIVATED` ticket, with which nobody has ever entered, to another person. A channel transfers tickets that it sold. The ticket gets a new code and document, and loses the former ones, what the former attendee told, and its warranty; the new one is of age and answers what is required, as in a checkout. Both attendees get a mail, at most five times within 24 hours, resends included. A ticket that already bears this name and e-mail address is returned as it is.',
  input: ticketTransfer,
  parse: parseRequest,
  needs: { caller: 'confidential', scope: 'sales' },
  run: async ({ ticketId, attendee, answers }, ctx) => ({
    ticket: await transferTicket({ ticketId, answers, ...attendeeColumns(attendee) }, ctx),
  }),
  payload: 'Transferred ticket.',
  fields: oneObject('ticket', TicketRef, 'Transferred ticket.'),
})

mutation('resendTickets', {
  description:
    'Sends an `ACTIVATED` ticket, or all of a payment, to the attendees again: at most five times per ticket within 24 hours, transfers included. A channel resends tickets that it sold.',
  input: ticketResending,
  needs: { caller: 'confidential', scope: 'sales' },
  run: resendTickets,
  payload: 'Tickets that are sent again.',
  fields: (t) => ({
    tickets: t.expose('tickets', {
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description:
        'Tickets that are sent again, in the order of the checkout; those that are not `ACTIVATED` are left out.',
    }),
    queued: t.exposeInt('deliveries', {
      description:
        'Number of mails and messages that were queued: a mail for each ticket, and a message for each with a phone number.',
    }),
  }),
})
