import { builder } from '../../../graphql/builder.ts'
import { idInput } from '../../../graphql/mutation-input.ts'
import { catchRefusal, objectResult } from '../../../graphql/mutation-result.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import { cancelCheckout } from './cancel-checkout.ts'

const CancelCheckoutResultRef = objectResult(
  'CancelCheckout',
  ['payment', PaymentRef],
  'Payment of the cancelled checkout',
  'Its places are available again.',
)

const CancelCheckoutInputRef = idInput(
  'CancelCheckout',
  'paymentId',
  'Identifier of the payment of the checkout.',
)

builder.mutationField('cancelCheckout', (t) =>
  t.field({
    type: CancelCheckoutResultRef,
    description:
      'Cancels an unpaid checkout of the channel and makes its places available again at once. Channels only. Idempotent: returns a checkout that is already cancelled unchanged.',
    args: {
      input: t.arg({ type: CancelCheckoutInputRef, required: true, description: 'Checkout to cancel.' }),
    },
    resolve: (_root, { input: { paymentId } }, ctx) =>
      catchRefusal(async () => ({ payment: await cancelCheckout(paymentId, ctx) })),
  }),
)
