import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../../graphql/mutation-result.ts'
import { requireIntegration } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { RefundAttemptRef } from '../../refund/graphql.ts'
import type { RefundAttempt } from '../../refund/table.ts'
import { refundInput, refundTicket } from './refund-ticket.ts'
import { requestRefund } from './request-refund.ts'

const RefundPayloadRef = builder.objectRef<{ refund: RefundAttempt }>('RefundPayload').implement({
  description: 'Refund that was started, and possibly completed.',
  fields: (t) => ({
    refund: t.field({
      type: RefundAttemptRef,
      description: 'Refund; `pending` until the provider decides.',
      resolve: ({ refund }) => refund,
    }),
  }),
})

const RefundResultRef = resultUnion(
  'RefundResult',
  RefundPayloadRef,
  'Refund, or the reasons for the refusal.',
)

builder.mutationField('refundTicket', (t) =>
  t.field({
    type: RefundResultRef,
    description:
      'Refunds all or part of the amount paid for a ticket of the organization. Integrations only. Can be repeated until nothing is left to refund. Does not cancel the ticket: see `cancelTicket`.',
    args: {
      ticketId: t.arg.id({ required: true, description: 'Identifier of the ticket to refund.' }),
      amount: t.arg.float({
        description: 'Amount in major units, such as 10.5 for €10.50; everything left to refund if omitted.',
      }),
      idempotencyKey: t.arg.string({
        description:
          'Key that makes retries safe: the same key and request return the same refund; the same key with another request is refused.',
      }),
    },
    resolve: (_root, args, ctx) =>
      catchRefusal(async () => {
        requireIntegration(ctx)
        return { refund: await refundTicket(scalars.parse(refundInput, args), ctx) }
      }),
  }),
)

builder.mutationField('requestRefund', (t) =>
  t.field({
    type: RefundResultRef,
    description:
      'Returns a ticket under its warranty, which ends some hours before the event. Channels only. Cancels the ticket and refunds the amount paid, minus the price of the warranty. Idempotent: a repeated request returns the same refund.',
    args: { ticketId: t.arg.id({ required: true, description: 'Identifier of the ticket to return.' }) },
    resolve: (_root, { ticketId }, ctx) =>
      catchRefusal(async () => ({ refund: await requestRefund(ticketId, ctx) })),
  }),
)
