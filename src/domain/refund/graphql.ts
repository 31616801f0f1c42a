import {
  amountOf,
  builder,
  enumOf,
  fieldOf,
  NodeRef,
  nullable,
  nullableTime,
  time,
} from '../../engine/graphql/builder.ts'
import { viaLoader } from '../../engine/graphql/lookahead.ts'
import { PaymentRef } from '../payment/graphql.ts'
import { paymentById } from '../payment/loaders.ts'
import { TicketRef } from '../ticket/graphql.ts'
import { ticketById } from '../ticket/loaders.ts'
import { refundById, refundsByPaymentId, refundsByTicketId } from './loaders.ts'
import { type RefundAttempt, refundReasons } from './table.ts'

const RefundStatusRef = enumOf<RefundAttempt['status'] | 'TO_HAND_BACK' | 'WAITING_FOR_FUNDS'>(
  'RefundStatus',
  'Status of a refund. Values may be added: treat an unknown one as `PENDING`.',
  {
    pending: 'The provider has not decided yet.',
    succeeded: 'The provider has confirmed the refund, or the organization gives it back by hand.',
    failed: 'The provider refused. The amount can be refunded again.',
    TO_HAND_BACK: 'Reserved for what the organization has yet to give back by hand.',
    WAITING_FOR_FUNDS: 'Reserved for a refund that waits until the provider has the money.',
  },
)

const RefundReasonRef = enumOf(
  'RefundReason',
  'Reason for a refund. Values may be added: treat an unknown one as automatic.',
  { ...refundReasons, CALLED_OFF: 'Reserved for an event that was called off.' },
)

// Reasons of providers that people can do something about; those of Stripe's cards are in its `failure_reason`.
const failureTexts: Record<string, string> = {
  lost_or_stolen_card: 'The card was lost or stolen.',
  expired_or_canceled_card: 'The card has expired or was cancelled.',
  declined: 'The bank of the buyer has declined.',
  insufficient_funds: 'The organization has too little money at the payment provider.',
  charge_for_pending_refund_disputed: 'The buyer disputes the charge at the bank.',
  charge_disputed: 'The buyer disputes the charge at the bank.',
  resource_missing: 'The payment provider does not know the charge.',
}

const RefundFailureRef = builder.objectRef<{ code: string }>('RefundFailure').implement({
  description: 'Reason why a refund failed.',
  fields: (t) => ({
    code: t.exposeString('code', { description: "Payment provider's code, such as `insufficient_funds`." }),
    message: t.string({
      description: 'Text for people, in English.',
      resolve: ({ code }) => failureTexts[code] ?? 'The payment provider has refused, and does not say why.',
    }),
  }),
})

export const RefundRef = builder.objectRef<RefundAttempt>('Refund').implement({
  description: 'Money given back for a ticket or a payment, or the attempt.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'ref', scope: 'tickets:read', load: refundById } },
  fields: (t) => ({
    amount: t.field(amountOf('Amount to refund.', 'amount')),
    reason: t.expose('reason', { type: RefundReasonRef, description: 'Reason for the refund.' }),
    status: t.expose('status', { type: RefundStatusRef, description: 'Current status.' }),
    createdAt: t.expose('createdAt', time('Time when the refund was created.')),
    succeededAt: t.expose(
      'succeededAt',
      nullableTime(
        'Time when the provider confirmed the refund, or when one by hand was recorded; null until then.',
      ),
    ),
    failure: t.field({
      type: RefundFailureRef,
      ...nullable(
        'Reason why the provider has refused, or has reversed a refund after it succeeded; null otherwise.',
      ),
      // A pending refund is tried again.
      resolve: ({ status, lastError: code }) => (status === 'pending' || code === null ? null : { code }),
    }),
    payment: t.field({
      type: PaymentRef,
      // Leads back up the graph, as a payment has some refunds.
      complexity: { field: 1, multiplier: 2 },
      ...nullable('Payment that the money is of; null if the caller may not see it.'),
      ...viaLoader(paymentById, ({ paymentId }: RefundAttempt) => paymentId),
    }),
    ticket: t.field({
      type: TicketRef,
      ...nullable('Refunded ticket; null for an automatic refund.'),
      ...viaLoader(ticketById, ({ ticketId }: RefundAttempt) => ticketId),
    }),
  }),
})

fieldOf(TicketRef, 'refunds', {
  type: [RefundRef],
  description: 'Refunds of this ticket, pending and failed ones included, oldest first.',
  resolve: (ticket, _args, { loaders }) => loaders.get(refundsByTicketId).get(ticket.id),
})

fieldOf(PaymentRef, 'refunds', {
  type: [RefundRef],
  // A payment rarely has more than two refunds, but each can lead back to the payment.
  complexity: { field: 1, multiplier: 2 },
  ...nullable(
    'Refunds of this payment and its tickets, pending and failed ones included, oldest first; null for a publishable key.',
  ),
  resolve: (payment, _args, { caller, loaders }) =>
    caller?.kind === 'publishable' ? null : loaders.get(refundsByPaymentId).get(payment.id),
})
