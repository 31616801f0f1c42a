import {
  amountOf,
  builder,
  enumOf,
  ModeRef,
  NodeRef,
  nullable,
  nullableTime,
  time,
} from '../../graphql/builder.ts'
import { requireSelling } from '../../request/context.ts'
import { findPaymentByToken, paymentById } from './loaders.ts'
import { paymentUrl, tokenInUrl } from './payment-url.ts'
import type { Payment } from './table.ts'

export const PaymentStatusRef = enumOf<Payment['status']>('PaymentStatus', 'Status of a payment.', {
  pending: 'Waiting for the buyer to pay. The tickets are held.',
  processing: 'The buyer has paid, and the provider is still deciding. The tickets are held.',
  paid: 'Paid. The tickets have been activated.',
  failed: 'The provider reported a failure. The tickets are no longer held.',
  expired: 'Not paid in time. The tickets are no longer held.',
  cancelled: 'Cancelled before payment. The tickets are no longer held.',
  partially_refunded: 'Paid, and refunded in part.',
  refunded: 'Refunded in full.',
})

export const PaymentMethodRef = enumOf<NonNullable<Payment['method']>>(
  'PaymentMethod',
  'Means of a payment that the organization took itself.',
  {
    CASH: 'Paid in cash.',
    CARD: "Paid by card, at the organization's own terminal.",
    OTHER: 'Paid by other means, such as a voucher.',
  },
)

export const PaymentRef = builder.objectRef<Payment>('Payment').implement({
  description: 'Payment for one checkout. Amounts are in major units, such as 10.5 for €10.50.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'pay', scope: 'tickets:read', load: paymentById } },
  fields: (t) => ({
    url: t.string({
      nullable: true,
      description:
        'Payment page to send the buyer to. Null unless the caller is the channel that made the checkout.',
      resolve: (payment, _args, ctx) =>
        ctx.caller && ctx.caller.kind !== 'integration'
          ? paymentUrl(payment, ctx.services.publicUrl())
          : null,
    }),
    mode: t.expose('mode', { type: ModeRef, description: 'Mode of the key that it was made with.' }),
    status: t.expose('status', { type: PaymentStatusRef, description: 'Current status.' }),
    expiresAt: t.expose('expiresAt', time('Time when the hold on the tickets of an unpaid payment ends.')),
    paidAt: t.expose('paidAt', nullableTime('Time of payment; null if unpaid.')),
    totalAmount: t.float(amountOf('Amount that the buyer pays.', 'totalAmount')),
    currency: t.exposeString('currency', { description: 'Currency, as an ISO 4217 code.' }),
    refundedAmount: t.float(amountOf('Amount refunded so far.', 'refundedAmount')),
    invoiceReference: t.exposeString(
      'invoiceReference',
      nullable('Invoice reference; null until the payment is paid, and always null for a total of 0.'),
    ),
    method: t.expose('method', {
      type: PaymentMethodRef,
      nullable: true,
      description: 'Means of payment at the box office; null for any other payment.',
    }),
    methodReference: t.exposeString(
      'methodReference',
      nullable('Reference that the box office gave the payment, such as the number of a receipt.'),
    ),
    conditionsChanged: t.exposeBoolean('conditionsChanged', {
      description:
        "True if a requested price was no longer available and the rate's current price replaced it, or if the total was lower than `expectedTotal`.",
    }),
    createdAt: t.expose('createdAt', time('Time of the checkout.')),
  }),
})

builder.queryField('payment', (t) =>
  t.field({
    type: PaymentRef,
    nullable: true,
    extensions: { needs: { caller: 'any', scope: 'tickets:read' } },
    description: 'Finds a payment by its identifier. Null if there is none or the caller may not see it.',
    args: { id: t.arg.id({ required: true, description: 'Payment identifier.' }) },
    resolve: (_root, { id }, ctx) => ctx.loaders.load(paymentById, id),
  }),
)

builder.queryField('paymentByUrl', (t) =>
  t.field({
    type: PaymentRef,
    nullable: true,
    extensions: { needs: { caller: 'selling', scope: 'none' } },
    description:
      'Finds a payment of the channel by the address of its page, which whoever made the checkout knows. Channels and publishable keys only: it is all that a publishable key sees of a payment. Null if there is none.',
    args: {
      url: t.arg.string({
        required: true,
        description: 'Address of the page, `Payment.url` of the checkout.',
      }),
    },
    resolve: async (_root, { url }, ctx) => {
      const { channelId, mode } = requireSelling(ctx)
      const token = tokenInUrl(url)
      return token === null ? null : findPaymentByToken(ctx.db, token, { channelId, mode })
    },
  }),
)
