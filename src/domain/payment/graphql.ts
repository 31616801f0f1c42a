import { builder, NodeRef } from '../../graphql/builder.ts'
import { requireCaller } from '../../request/context.ts'
import { toMajor } from '../../shared/money.ts'
import { paymentById } from './loaders.ts'
import { paymentUrl } from './payment-url.ts'
import { type Payment, paymentStatus } from './table.ts'

const PaymentStatusRef = builder.enumType('PaymentStatus', {
  description:
    'Status of a payment. `pending`: waiting for the buyer to pay. `processing`: the buyer has paid and the provider is still deciding.',
  values: paymentStatus.enumValues,
})

export const PaymentRef = builder.objectRef<Payment>('Payment')

PaymentRef.implement({
  description: 'Payment for one checkout.',
  interfaces: [NodeRef],
  fields: (t) => ({
    url: t.string({
      nullable: true,
      description:
        'Payment page to send the buyer to. Null unless the caller is the channel that made the checkout.',
      resolve: (payment, _args, ctx) =>
        ctx.caller?.kind === 'channel' ? paymentUrl(payment, ctx.services.publicUrl()) : null,
    }),
    status: t.expose('status', { type: PaymentStatusRef, description: 'Current status.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'Time when the hold on the tickets ends.',
    }),
    paidAt: t.expose('paidAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of payment; null if unpaid.',
    }),
    totalAmount: t.float({
      description: 'Amount the buyer pays, in major units.',
      resolve: (payment) => toMajor(payment.totalAmount, payment.currency),
    }),
    currency: t.exposeString('currency', { description: 'ISO 4217 code.' }),
    refundedAmount: t.float({
      description: 'Amount refunded so far, in major units.',
      resolve: (payment) => toMajor(payment.refundedAmount, payment.currency),
    }),
    invoiceReference: t.exposeString('invoiceReference', {
      nullable: true,
      description: 'Invoice reference; null until the payment is paid, and always null for a total of 0.',
    }),
    conditionsChanged: t.exposeBoolean('conditionsChanged', {
      description:
        "True if a requested price was no longer available and the rate's current price replaced it.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the checkout.' }),
  }),
})

builder.queryField('payment', (t) =>
  t.field({
    type: PaymentRef,
    nullable: true,
    description: 'Payment with this identifier; null if there is none or the caller may not see it.',
    args: { id: t.arg.id({ required: true, description: 'Payment identifier.' }) },
    resolve: (_root, { id }, ctx) => requireCaller(ctx) && ctx.loaders.load(paymentById, id),
  }),
)
