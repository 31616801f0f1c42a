import { builder } from '../../../graphql/builder.ts'
import { idInput, notifyDescription } from '../../../graphql/mutation-input.ts'
import { mutation, objectResult } from '../../../graphql/mutation-result.ts'
import { requireIntegration } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { RefundAttemptRef } from '../../refund/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { cancelTicket } from './cancel-ticket.ts'
import { refundInput, refundTicket } from './refund-ticket.ts'
import { requestRefund } from './request-refund.ts'

const RefundResultRef = objectResult(
  'Refund',
  ['refund', RefundAttemptRef],
  'Refund, `pending` until the provider decides',
)

const RefundTicketInputRef = builder.inputType('RefundTicketInput', {
  description: 'Refund of all or part of the amount paid for a ticket.',
  fields: (t) => ({
    ticketId: t.id({ required: true, description: 'Identifier of the ticket to refund.' }),
    amount: t.float({
      description: 'Amount in major units, such as 10.5 for €10.50; everything left to refund if omitted.',
    }),
    notify: t.boolean({ description: notifyDescription }),
    idempotencyKey: t.string({
      description:
        'Key that makes retries safe: the same key and request return the same refund; the same key with another request is refused.',
    }),
  }),
})

mutation('refundTicket', {
  description:
    'Refunds all or part of the amount paid for a ticket of the organization. Integrations only. Can be repeated until nothing is left to refund. Does not cancel the ticket: see `cancelTicket`. Holder and payer are told by mail, the amount to the payer alone.',
  input: [RefundTicketInputRef, 'Refund.'],
  result: RefundResultRef,
  caller: requireIntegration,
  run: async (input, ctx) => ({ refund: await refundTicket(scalars.parse(refundInput, input), ctx) }),
})

mutation('requestRefund', {
  description:
    'Returns a ticket under its warranty, which ends some hours before the event, or once the ticket was given to another person. Channels only. Cancels the ticket and refunds the amount paid, minus the price of the warranty. Idempotent: a repeated request returns the same refund. Holder and payer are told by mail.',
  input: [
    idInput('RequestRefund', 'ticketId', 'Identifier of the ticket to return.', true),
    'Ticket to return.',
  ],
  result: RefundResultRef,
  run: async ({ ticketId, notify }, ctx) => ({ refund: await requestRefund(ticketId, notify ?? true, ctx) }),
})

mutation('cancelTicket', {
  description:
    'Cancels a paid ticket with which nobody has entered, and makes its place available again at once. The channel that sold the ticket and integrations of its organization may cancel it. Moves no money: see `refundTicket`. Idempotent: returns a ticket that is already cancelled unchanged. Holder and payer are told by mail.',
  input: [
    idInput('CancelTicket', 'ticketId', 'Identifier of the ticket to cancel.', true),
    'Ticket to cancel.',
  ],
  result: objectResult(
    'CancelTicket',
    ['ticket', TicketRef],
    'Cancelled ticket',
    'Its place is available again.',
  ),
  run: async ({ ticketId, notify }, ctx) => ({ ticket: await cancelTicket(ticketId, notify ?? true, ctx) }),
})
