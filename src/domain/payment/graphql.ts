import { z } from 'zod'
import {
  amountOf,
  builder,
  enumOf,
  NodeRef,
  nullable,
  nullableTime,
  queryField,
  subscriptionField,
  time,
} from '../../engine/graphql/builder.ts'
import { argsOf } from '../../engine/graphql/input-of.ts'
import { ModeRef } from '../caller/roots-graphql.ts'
import { paymentById } from './loaders.ts'
import { paymentUrl } from './payment-url.ts'
import { ownProvider } from './provider.ts'
import { type Payment, paymentMethods, paymentStatuses } from './table.ts'
import { findPaymentByUrl, watchPayment } from './watch-payment.ts'

export const PaymentStatusRef = enumOf(
  'PaymentStatus',
  'Status of a payment. Values may be added: treat an unknown one as not paid.',
  paymentStatuses,
)

export const PaymentMethodRef = enumOf(
  'PaymentMethod',
  'Means of a payment that the organization took itself. Values may be added: treat an unknown one as `OTHER`.',
  paymentMethods,
)

export const SaleTypeRef = enumOf<'online' | 'box_office' | 'invitation'>(
  'SaleType',
  'Way of selling. Values may be added: treat an unknown one as another way.',
  {
    online: "By a channel's checkout.",
    box_office: 'At the door, by the organization.',
    invitation: 'Given away by the organization.',
  },
)

const BoxOfficeReceiptRef = builder.objectRef<Payment & { method: string }>('BoxOfficeReceipt').implement({
  description: 'Means by which the box office took the money of a payment.',
  fields: (t) => ({
    method: t.expose('method', { type: PaymentMethodRef, description: 'Means of payment.' }),
    reference: t.exposeString(
      'methodReference',
      nullable('Reference that the box office gave it, such as the number of a receipt; null if none.'),
    ),
  }),
})

export const PaymentRef = builder.objectRef<Payment>('Payment').implement({
  description: 'Payment for all tickets of one sale, which elsewhere is called an order.',
  interfaces: [NodeRef],
  extensions: { node: { prefix: 'pay', scope: 'tickets:read', load: paymentById } },
  fields: (t) => ({
    pageUrl: t.string({
      nullable: true,
      description:
        'Payment page to send the buyer to. Null unless the caller is the channel that made the checkout. With `?tickets` it shows a buyer who has paid the tickets, and goes on to no `redirectUrl`. In the sandbox a test pays by posting the form `action=pay` to it.',
      resolve: (payment, _args, ctx) =>
        ctx.caller && ctx.caller.kind !== 'integration'
          ? paymentUrl(payment, ctx.services.publicUrl())
          : null,
    }),
    mode: t.expose('mode', { type: ModeRef, description: 'Mode of the key that it was made with.' }),
    status: t.expose('status', { type: PaymentStatusRef, description: 'Current status.' }),
    saleType: t.field({
      type: SaleTypeRef,
      description: 'Way of selling.',
      resolve: ({ provider, method }) =>
        provider !== ownProvider ? 'online' : method ? 'box_office' : 'invitation',
    }),
    expiresAt: t.field({
      ...nullableTime('Time when the hold on its tickets ends; null unless it is unpaid and holds them.'),
      resolve: ({ status, expiresAt }) =>
        status === 'pending' || status === 'processing' ? expiresAt : null,
    }),
    paidAt: t.expose(
      'paidAt',
      nullableTime(
        'Time of payment; null if unpaid. It stays when money is given back, so it tells whether the tickets were paid, whatever the `status`.',
      ),
    ),
    totalAmount: t.field(amountOf('Amount that the buyer pays.', 'totalAmount')),
    refunded: t.field(amountOf('Amount refunded so far.', 'refundedAmount')),
    invoiceReference: t.exposeString(
      'invoiceReference',
      nullable('Invoice reference; null until the payment is paid, and always null for a total of 0.'),
    ),
    boxOffice: t.field({
      type: BoxOfficeReceiptRef,
      ...nullable('Means by which the box office took the money; null for any other payment.'),
      resolve: ({ method, ...payment }) => (method ? { ...payment, method } : null),
    }),
    conditionsChanged: t.exposeBoolean('conditionsChanged', {
      description:
        "True if a requested price was no longer available and the rate's current price replaced it, or if the total was lower than `expectedTotal`.",
    }),
    createdAt: t.expose('createdAt', time('Time of the checkout.')),
  }),
})

queryField('payment', {
  type: PaymentRef,
  needs: { caller: 'any', scope: 'tickets:read' },
  description:
    'Finds a payment by its identifier: a channel finds those of its checkouts, an integration those of its organization, a publishable key none. Null if there is none.',
  args: builder.args((t) => ({ id: t.id({ required: true, description: 'Payment identifier.' }) })),
  resolve: (_root, { id }, ctx) => ctx.loaders.load(paymentById, id),
})

const urlArgs = z.object({
  url: z.string().describe('Address of the page, `Payment.pageUrl` of the checkout.'),
})

queryField('paymentByUrl', {
  type: PaymentRef,
  needs: { caller: 'selling', scope: 'none' },
  description:
    'Finds a payment of the channel by the address of its page, which only the buyer and the channel know. Null if there is none.',
  args: argsOf(urlArgs),
  resolve: (_root, { url }, ctx) => findPaymentByUrl(url, ctx),
})

subscriptionField('payment', {
  type: PaymentRef,
  needs: { caller: 'selling', scope: 'none', stream: { latestBy: ({ id }: Payment) => id } },
  description:
    'Streams a payment of the channel by the address of its page: as it is at once, and again whenever its status changes or more of it is refunded. It goes on until the client ends it, because late money pays an expired payment. Refuses an address that `paymentByUrl` does not find with `NOT_FOUND`.',
  args: argsOf(urlArgs),
  subscribe: (_root, { url }, ctx) => watchPayment(url, ctx),
  resolve: (payment: Payment) => payment,
})
