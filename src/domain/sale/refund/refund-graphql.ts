import { mutation, oneObject } from '../../../graphql/mutation-result.ts'
import { RefundRef } from '../../refund/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { cancelTicket } from './cancel-ticket.ts'
import { cancellationInput, refundInput, refundTicket, returnInput } from './refund-ticket.ts'
import { requestRefund } from './request-refund.ts'

mutation('refundTicket', {
  description:
    'Refunds all or part of the amount paid for a ticket of the organization. Can be repeated until nothing is left to refund. Does not cancel the ticket: see `cancelTicket`. Holder and payer are told by mail, the amount to the payer alone.',
  input: refundInput,
  needs: { caller: 'integration', scope: 'refunds' },
  run: async (input, ctx) => refundTicket(input, ctx),
  payload: 'Refund of a ticket.',
  fields: oneObject('refund', RefundRef, 'Refund, `PENDING` until the provider decides.'),
})

mutation('returnTicket', {
  description:
    'Returns a ticket under its warranty, which ends some hours before the event, or once the ticket was given to another person. Cancels the ticket and refunds the amount paid, minus the price of the warranty. A repeated request returns the same refund. Holder and payer are told by mail.',
  input: returnInput,
  needs: { caller: 'channel', scope: 'none' },
  run: async ({ ticketId, notify }, ctx) => ({ refund: await requestRefund(ticketId, notify, ctx) }),
  payload: 'Refund of a ticket that was returned.',
  fields: oneObject('refund', RefundRef, 'Refund, `PENDING` until the provider decides.'),
})

mutation('cancelTicket', {
  description:
    'Cancels a paid ticket with which nobody has entered, and makes its place available again at once. A channel cancels tickets that it sold. Moves no money: see `refundTicket`. Returns a ticket that is already cancelled unchanged, so a call can be repeated. Holder and payer are told by mail.',
  input: cancellationInput,
  needs: { caller: 'confidential', scope: 'refunds' },
  run: async ({ ticketId, notify }, ctx) => ({ ticket: await cancelTicket(ticketId, notify, ctx) }),
  payload: 'Cancelled ticket.',
  fields: oneObject('ticket', TicketRef, 'Cancelled ticket. Its place is available again.'),
})
