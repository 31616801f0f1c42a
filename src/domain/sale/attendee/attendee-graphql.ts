import { builder } from '../../../graphql/builder.ts'
import { mutation, objectResult, resultUnion } from '../../../graphql/mutation-result.ts'
import { parseRequest } from '../../../shared/parse.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { maxTickets, type Ticket } from '../../ticket/table.ts'
import { attendeeChanges, attendeeChangesBatch, ticketResending, ticketTransfer } from './attendee-input.ts'
import { type Resent, resendTickets } from './resend-tickets.ts'
import { transferTicket } from './transfer-ticket.ts'
import { updateAttendees } from './update-attendee.ts'

const ResendTicketsPayloadRef = builder.objectRef<Resent>('ResendTicketsPayload').implement({
  description: 'Tickets that are sent again.',
  fields: (t) => ({
    tickets: t.expose('tickets', {
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description:
        'Tickets that are sent again, in the order of the checkout; those that are not active are left out.',
    }),
    deliveries: t.exposeInt('deliveries', {
      description:
        'Number of mails and messages that were queued: a mail for each ticket, and a message for each with a phone number, which is skipped where messaging is not enabled.',
    }),
  }),
})

const whose = 'The channel that sold the ticket and integrations of its organization may do this.'

mutation('updateAttendee', {
  description: `Corrects what was typed about the attendee of a ticket that is \`pending\` or \`activated\`, until somebody has entered with it. ${whose} Sends nothing: a ticket that is paid later goes to the new address; for one that is paid see \`resendTickets\`. Idempotent.`,
  input: attendeeChanges,
  parse: parseRequest,
  result: objectResult('UpdateAttendee', ['ticket', TicketRef], 'Corrected ticket'),
  needs: { caller: 'confidential', scope: 'sales' },
  run: async (input, ctx) => {
    const [ticket] = await updateAttendees([input], ctx, (_index, path) => path)
    return { ticket: ticket as Ticket }
  },
})

mutation('updateAttendees', {
  description: `Corrects the attendees of several tickets by the rules of \`updateAttendee\`: all or none. ${whose} Paths of errors begin with \`attendees\` and the index of the correction.`,
  input: attendeeChangesBatch,
  parse: parseRequest,
  result: objectResult('UpdateAttendees', ['tickets', [TicketRef]], 'Corrected tickets'),
  needs: { caller: 'confidential', scope: 'sales' },
  complexity: ({ input }) => ({ field: 1_000, multiplier: input.attendees.length }),
  run: async ({ attendees }, ctx) => ({ tickets: await updateAttendees(attendees, ctx) }),
})

mutation('transferTicket', {
  description: `Gives an \`activated\` ticket, with which nobody has ever entered, to another person, also where everything is sold out. ${whose} The ticket gets a new code and a new document; the former ones, and all that the former holder told, are gone at once. Both holders get a mail, so at most five times within 24 hours, resends included. A warranty ends. Refunds and the invoice stay with the payment. Returns a ticket that already bears this name and e-mail address unchanged, so a call can be repeated.`,
  input: ticketTransfer,
  parse: parseRequest,
  result: objectResult('TransferTicket', ['ticket', TicketRef], 'Transferred ticket'),
  needs: { caller: 'confidential', scope: 'sales' },
  run: async (input, ctx) => ({ ticket: await transferTicket(input, ctx) }),
})

mutation('resendTickets', {
  description: `Sends a ticket, or all tickets of a payment, to their holders again: a mail for each, at most five times per ticket within 24 hours, transfers included. ${whose} Only tickets that are \`activated\`.`,
  input: ticketResending,
  isOneOf: true,
  result: resultUnion(
    'ResendTicketsResult',
    ResendTicketsPayloadRef,
    'Tickets that are sent again, or the reasons for the refusal.',
  ),
  needs: { caller: 'confidential', scope: 'sales' },
  run: resendTickets,
})
