import { builder } from '../../../graphql/builder.ts'
import { idInput, notifyDescription } from '../../../graphql/mutation-input.ts'
import { catchRefusal, objectResult } from '../../../graphql/mutation-result.ts'
import { requireIntegration } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { RefundAttemptRef } from '../../refund/graphql.ts'
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

const RequestRefundInputRef = idInput(
  'RequestRefund',
  'ticketId',
  'Identifier of the ticket to return.',
  true,
)

builder.mutationField('refundTicket', (t) =>
  t.field({
    type: RefundResultRef,
    description:
      'Refunds all or part of the amount paid for a ticket of the organization. Integrations only. Can be repeated until nothing is left to refund. Does not cancel the ticket: see `cancelTicket`. Holder and payer are told by mail, the amount to the payer alone.',
    args: { input: t.arg({ type: RefundTicketInputRef, required: true, description: 'Refund.' }) },
    resolve: (_root, { input }, ctx) =>
      catchRefusal(async () => {
        requireIntegration(ctx)
        return { refund: await refundTicket(scalars.parse(refundInput, input), ctx) }
      }),
  }),
)

builder.mutationField('requestRefund', (t) =>
  t.field({
    type: RefundResultRef,
    description:
      'Returns a ticket under its warranty, which ends some hours before the event, or once the ticket was given to another person. Channels only. Cancels the ticket and refunds the amount paid, minus the price of the warranty. Idempotent: a repeated request returns the same refund. Holder and payer are told by mail.',
    args: {
      input: t.arg({ type: RequestRefundInputRef, required: true, description: 'Ticket to return.' }),
    },
    resolve: (_root, { input: { ticketId, notify } }, ctx) =>
      catchRefusal(async () => ({ refund: await requestRefund(ticketId, notify ?? true, ctx) })),
  }),
)
