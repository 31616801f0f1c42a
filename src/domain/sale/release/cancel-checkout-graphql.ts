import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../../graphql/mutation-result.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import type { Payment } from '../../payment/table.ts'
import { cancelCheckout } from './cancel-checkout.ts'

const CancelCheckoutPayloadRef = builder.objectRef<{ payment: Payment }>('CancelCheckoutPayload').implement({
  description: 'Cancelled checkout. Its places are available again.',
  fields: (t) => ({
    payment: t.field({
      type: PaymentRef,
      description: 'Cancelled payment.',
      resolve: ({ payment }) => payment,
    }),
  }),
})

const CancelCheckoutResultRef = resultUnion(
  'CancelCheckoutResult',
  CancelCheckoutPayloadRef,
  'Cancelled checkout, or the reasons for the refusal.',
)

builder.mutationField('cancelCheckout', (t) =>
  t.field({
    type: CancelCheckoutResultRef,
    description:
      'Cancels an unpaid checkout of the channel and makes its places available again at once. Channels only. Idempotent: returns a checkout that is already cancelled unchanged.',
    args: { paymentId: t.arg.id({ required: true, description: 'Identifier of the payment.' }) },
    resolve: (_root, { paymentId }, ctx) =>
      catchRefusal(async () => ({ payment: await cancelCheckout(paymentId, ctx) })),
  }),
)
