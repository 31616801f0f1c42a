import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, objectResult } from '../../../graphql/mutation-result.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import { cancelCheckout } from './cancel-checkout.ts'

const CancelCheckoutResultRef = objectResult(
  'CancelCheckout',
  ['payment', PaymentRef],
  'Payment of the cancelled checkout',
  'Its places are available again.',
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
