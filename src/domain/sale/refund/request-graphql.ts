import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../../graphql/mutation-result.ts'
import { requireIntegration } from '../../../request/context.ts'
import * as scalars from '../../../shared/input-types.ts'
import { RefundAttemptRef } from '../../refund/graphql.ts'
import type { Refund } from '../../refund/table.ts'
import { refundInput, refundTicket } from './refund-ticket.ts'
import { requestRefund } from './request-refund.ts'

const RefundPayloadRef = builder.objectRef<{ refund: Refund }>('RefundPayload').implement({
  description: 'Money that is on its way back, or there already.',
  fields: (t) => ({
    refund: t.field({
      type: RefundAttemptRef,
      description: 'The refund: `pending` until the provider has decided.',
      resolve: ({ refund }) => refund,
    }),
  }),
})

const RefundResultRef = resultUnion('RefundResult', RefundPayloadRef, 'A refund, or why there is none.')

builder.mutationField('refundTicket', (t) =>
  t.field({
    type: RefundResultRef,
    description:
      'For integrations: gives back what was paid for a ticket of the organization, or part of it, as often as something is left. The ticket stays as it is: see `cancelTicket`.',
    args: {
      ticketId: t.arg.id({ required: true, description: 'The ticket.' }),
      amount: t.arg.float({ description: 'Major units; all that is left where it is absent.' }),
      idempotencyKey: t.arg.string({
        description: 'The same key and request give the same refund again; another request is refused.',
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
      'For channels: gives a ticket back by its warranty, until so many hours before the event. It is cancelled, and what was paid for it goes back but for the warranty’s own price. Asked again it is the same refund.',
    args: { ticketId: t.arg.id({ required: true, description: 'The ticket.' }) },
    resolve: (_root, { ticketId }, ctx) =>
      catchRefusal(async () => ({ refund: await requestRefund(ticketId, ctx) })),
  }),
)
