import { builder, NodeRef } from '../../graphql/builder.ts'
import { requireCaller } from '../../request/context.ts'
import { toMajor } from '../../shared/money.ts'
import { paymentById } from './loaders.ts'
import { paymentUrl } from './payment-url.ts'
import { type Payment, paymentStatus } from './table.ts'

const PaymentStatusRef = builder.enumType('PaymentStatus', {
  description:
    '`pending` until it is paid, fails, expires or is cancelled; `processing` while the provider decides.',
  values: paymentStatus.enumValues,
})

export const PaymentRef = builder.objectRef<Payment>('Payment')

PaymentRef.implement({
  description: 'What is to be paid for one checkout.',
  interfaces: [NodeRef],
  fields: (t) => ({
    url: t.string({
      nullable: true,
      description: 'The page to send the buyer to. Only the channel that made the checkout sees it.',
      resolve: (payment, _args, ctx) =>
        ctx.caller?.kind === 'channel' ? paymentUrl(payment, ctx.services.publicUrl()) : null,
    }),
    status: t.expose('status', { type: PaymentStatusRef, description: 'How it stands.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Until when its tickets are held.' }),
    paidAt: t.expose('paidAt', { type: 'DateTime', nullable: true, description: 'When it was paid.' }),
    totalAmount: t.float({
      description: 'What the buyer pays, in major units.',
      resolve: (payment) => toMajor(payment.totalAmount, payment.currency),
    }),
    currency: t.exposeString('currency', { description: 'ISO 4217 code.' }),
    refundedAmount: t.float({
      description: 'What has been given back of it, in major units.',
      resolve: (payment) => toMajor(payment.refundedAmount, payment.currency),
    }),
    invoiceReference: t.exposeString('invoiceReference', {
      nullable: true,
      description: 'Reference of its invoice; null until it is paid, and where nothing was to be paid.',
    }),
    conditionsChanged: t.exposeBoolean('conditionsChanged', {
      description: "Whether the rate's current price took the place of one that can't be bought any more.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the checkout was made.' }),
  }),
})

builder.queryField('payment', (t) =>
  t.field({
    type: PaymentRef,
    nullable: true,
    description: 'One payment of the caller.',
    args: { id: t.arg.id({ required: true, description: 'Its identifier.' }) },
    resolve: (_root, { id }, ctx) => requireCaller(ctx) && ctx.loaders.load(paymentById, id),
  }),
)
