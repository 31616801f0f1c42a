import { builder } from '../../graphql/builder.ts'
import { toMajor } from '../../shared/money.ts'
import { PaymentRef } from '../payment/graphql.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { ticketById } from '../ticket/loaders.ts'
import { refundsByPaymentId, refundsByTicketId } from './loaders.ts'
import { type Refund, refundReason, refundStatus } from './table.ts'

const RefundStatusRef = builder.enumType('RefundStatus', {
  description:
    '`pending` until the provider has decided; `failed` where it refused, so that the money can be refunded anew.',
  values: refundStatus.enumValues,
})

const RefundReasonRef = builder.enumType('RefundReason', {
  description:
    'Why money goes back: it was asked for, by the warranty of a ticket, or by itself: it came too late and no place was left, after the checkout was cancelled, or a second time, or its amount or currency is not that of the payment.',
  values: refundReason.enumValues,
})

export const RefundAttemptRef = builder.objectRef<Refund>('RefundAttempt').implement({
  description: 'One attempt to give money back.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its identifier.' }),
    amount: t.float({
      description: 'What goes back, in major units.',
      resolve: ({ amount, currency }) => toMajor(amount, currency),
    }),
    currency: t.exposeString('currency', { description: 'ISO 4217 code.' }),
    reason: t.expose('reason', { type: RefundReasonRef, description: 'Why it goes back.' }),
    status: t.expose('status', { type: RefundStatusRef, description: 'How it stands.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    succeededAt: t.expose('succeededAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the provider gave it back.',
    }),
    ticket: t.field({
      type: TicketRef,
      nullable: true,
      description: 'The ticket that it was paid for; null for money that no ticket was given for.',
      resolve: ({ ticketId }, _args, { loaders }) => (ticketId ? loaders.load(ticketById, ticketId) : null),
    }),
  }),
})

builder.objectField(TicketRef, 'refundAttempts', (t) =>
  t.field({
    type: [RefundAttemptRef],
    description: 'Each attempt to give back what was paid for it, those that are pending or failed too.',
    resolve: (ticket, _args, { loaders }) => loaders.load(refundsByTicketId, ticket.id),
  }),
)

builder.objectField(PaymentRef, 'refunds', (t) =>
  t.field({
    type: [RefundAttemptRef],
    // A payment has one or two, where it has one at all, and each leads back up.
    complexity: { field: 1, multiplier: 2 },
    description: 'Each attempt to give money back that was paid for it, that of its tickets too.',
    resolve: (payment, _args, { loaders }) => loaders.load(refundsByPaymentId, payment.id),
  }),
)
