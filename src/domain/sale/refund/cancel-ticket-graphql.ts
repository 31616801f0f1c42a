import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../../graphql/mutation-result.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import type { Ticket } from '../../ticket/table.ts'
import { cancelTicket } from './cancel-ticket.ts'

const CancelTicketPayloadRef = builder.objectRef<{ ticket: Ticket }>('CancelTicketPayload').implement({
  description: 'Cancelled ticket. Its place is available again.',
  fields: (t) => ({
    ticket: t.field({ type: TicketRef, description: 'Cancelled ticket.', resolve: ({ ticket }) => ticket }),
  }),
})

const CancelTicketResultRef = resultUnion(
  'CancelTicketResult',
  CancelTicketPayloadRef,
  'Cancelled ticket, or the reasons for the refusal.',
)

builder.mutationField('cancelTicket', (t) =>
  t.field({
    type: CancelTicketResultRef,
    description:
      'Cancels a paid ticket with which nobody has entered, and makes its place available again at once. The channel that sold the ticket and integrations of its organization may cancel it. Moves no money: see `refundTicket`. Idempotent: returns a ticket that is already cancelled unchanged.',
    args: { ticketId: t.arg.id({ required: true, description: 'Identifier of the ticket to cancel.' }) },
    resolve: (_root, { ticketId }, ctx) =>
      catchRefusal(async () => ({ ticket: await cancelTicket(ticketId, ctx) })),
  }),
)
