import { mutation, objectResult } from '../../../graphql/mutation-result.ts'
import { RefundAttemptRef } from '../../refund/graphql.ts'
import { TicketRef } from '../../ticket/graphql.ts'
import { cancelTicket } from './cancel-ticket.ts'
import { cancellationInput, refundInput, refundTicket, returnInput } from './refund-ticket.ts'
import { requestRefund } from './request-refund.ts'

const RefundResultRef = objectResult(
  'Refund',
  ['refund', RefundAttemptRef],
  'Refund, `pending` until the provider decides',
)

mutation('refundTicket', {
  description:
    'Refunds all or part of the amount paid for a ticket of the organization. Integrations only. Can be repeated until nothing is left to refund. Does not cancel the ticket: see `cancelTicket`. Holder and payer are told by mail, the amount to the payer alone.',
  input: refundInput,
  result: RefundResultRef,
  needs: { caller: 'integration', scope: 'refunds' },
  run: async (input, ctx) => ({ refund: await refundTicket(input, ctx) }),
})

mutation('requestRefund', {
  description:
    'Returns a ticket under its warranty, which ends some hours before the event, or once the ticket was given to another person. Channels only. Cancels the ticket and refunds the amount paid, minus the price of the warranty. Idempotent: a repeated request returns the same refund. Holder and payer are told by mail.',
  input: returnInput,
  result: RefundResultRef,
  needs: { caller: 'channel', scope: 'none' },
  run: async ({ ticketId, notify }, ctx) => ({ refund: await requestRefund(ticketId, notify, ctx) }),
})

mutation('cancelTicket', {
  description:
    'Cancels a paid ticket with which nobody has entered, and makes its place available again at once. The channel that sold the ticket and integrations of its organization may cancel it. Moves no money: see `refundTicket`. Idempotent: returns a ticket that is already cancelled unchanged. Holder and payer are told by mail.',
  input: cancellationInput,
  result: objectResult(
    'CancelTicket',
    ['ticket', TicketRef],
    'Cancelled ticket',
    'Its place is available again.',
  ),
  needs: { caller: 'confidential', scope: 'refunds' },
  run: async ({ ticketId, notify }, ctx) => ({ ticket: await cancelTicket(ticketId, notify, ctx) }),
})
