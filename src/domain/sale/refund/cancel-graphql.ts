import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../../graphql/mutation-result.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import type { Ticket } from '../../ticket/table.ts'
import { cancelTicket } from './cancel-ticket.ts'

const CancelTicketPayloadRef = builder.objectRef<{ ticket: Ticket }>('CancelTicketPayload').implement({
  description: 'A ticket that is cancelled: its place is free.',
  fields: (t) => ({
    ticket: t.field({ type: TicketRef, description: 'The ticket.', resolve: ({ ticket }) => ticket }),
  }),
})

const CancelTicketResultRef = resultUnion(
  'CancelTicketResult',
  CancelTicketPayloadRef,
  'A ticket that is cancelled, or why it is not.',
)

builder.mutationField('cancelTicket', (t) =>
  t.field({
    type: CancelTicketResultRef,
    description:
      'Cancels a paid ticket of the caller, and frees its place at once. No money moves: see `refundTicket`. A ticket that is cancelled already is answered as it is.',
    args: { ticketId: t.arg.id({ required: true, description: 'The ticket.' }) },
    resolve: (_root, { ticketId }, ctx) =>
      catchRefusal(async () => ({ ticket: await cancelTicket(ticketId, ctx) })),
  }),
)
