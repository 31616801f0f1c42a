import { builder } from '../../../graphql/builder.ts'
import { idInput } from '../../../graphql/mutation-input.ts'
import { catchRefusal, objectResult } from '../../../graphql/mutation-result.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { cancelTicket } from './cancel-ticket.ts'

const CancelTicketResultRef = objectResult(
  'CancelTicket',
  ['ticket', TicketRef],
  'Cancelled ticket',
  'Its place is available again.',
)

const CancelTicketInputRef = idInput('CancelTicket', 'ticketId', 'Identifier of the ticket to cancel.', true)

builder.mutationField('cancelTicket', (t) =>
  t.field({
    type: CancelTicketResultRef,
    description:
      'Cancels a paid ticket with which nobody has entered, and makes its place available again at once. The channel that sold the ticket and integrations of its organization may cancel it. Moves no money: see `refundTicket`. Idempotent: returns a ticket that is already cancelled unchanged. Holder and payer are told by mail.',
    args: {
      input: t.arg({ type: CancelTicketInputRef, required: true, description: 'Ticket to cancel.' }),
    },
    resolve: (_root, { input: { ticketId, notify } }, ctx) =>
      catchRefusal(async () => ({ ticket: await cancelTicket(ticketId, notify ?? true, ctx) })),
  }),
)
