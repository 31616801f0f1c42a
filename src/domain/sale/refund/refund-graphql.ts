import { inputOf } from '../../../engine/graphql/input-of.ts'
import { mutation, oneObject } from '../../../engine/graphql/mutation-result.ts'
import { RefundRef } from '../../refund/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { maxTickets } from '../../ticket-rate/table.ts'
import { cancelTickets } from './cancel-tickets.ts'
import { ticketsInput } from './named-tickets.ts'
import { cancellationInput, refundInput, refundTickets, returnInput } from './refund-tickets.ts'
import { returnTicket } from './return-ticket.ts'

inputOf('TicketsOf', ticketsInput, { isOneOf: true })

mutation('refundTickets', {
  description:
    "Refunds all or part of what was paid for a ticket of the organization, or all that is left of a payment: all or none. Does not cancel tickets: see `cancelTickets`. Attendees are told by mail, and the amounts to the payer, the attendee of the order's first ticket.",
  input: refundInput,
  needs: { caller: 'integration', scope: 'refunds' },
  run: refundTickets,
  payload: 'Refunds of tickets.',
  fields: (t) => ({
    refunds: t.expose('refunds', {
      type: [RefundRef],
      complexity: { field: 1, multiplier: maxTickets },
      description:
        'Refund of each ticket that had something left to refund, in the order of the checkout; `PENDING` until the provider decides.',
    }),
  }),
})

mutation('returnTicket', {
  description:
    'Returns a ticket under its warranty: cancels it, and refunds the amount paid minus the price of the warranty. A repeated call returns the same refund. Attendee and payer are told by mail.',
  input: returnInput,
  needs: { caller: 'channel', scope: 'none' },
  run: async ({ ticketId, notify }, ctx) => ({ refund: await returnTicket(ticketId, notify, ctx) }),
  payload: 'Refund of a ticket that was returned.',
  fields: oneObject('refund', RefundRef, 'Refund, `PENDING` until the provider decides.'),
})

mutation('cancelTickets', {
  description:
    'Cancels a paid ticket, or the tickets of a payment, whose places are available again at once: all, or none if somebody has entered with one. A channel cancels tickets that it sold. Refunds nothing: see `refundTickets`. Tickets that are already cancelled are returned as they are. Attendees and payer are told by mail.',
  input: cancellationInput,
  needs: { caller: 'confidential', scope: 'refunds' },
  run: async (input, ctx) => ({ tickets: await cancelTickets(input, ctx) }),
  payload: 'Cancelled tickets.',
  fields: (t) => ({
    tickets: t.expose('tickets', {
      type: [TicketRef],
      complexity: { field: 1, multiplier: maxTickets },
      description: 'Cancelled tickets, in the order of the checkout. Their places are available again.',
    }),
  }),
})
