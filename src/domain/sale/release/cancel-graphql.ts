import { builder } from '../../../graphql/builder.ts'
import { catchRefusal, resultUnion } from '../../../graphql/mutation-result.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import type { Payment } from '../../payment/table.ts'
import { cancelCheckout } from './cancel-checkout.ts'

const CancelCheckoutPayloadRef = builder.objectRef<{ payment: Payment }>('CancelCheckoutPayload').implement({
  description: 'A checkout that is cancelled: its places are free.',
  fields: (t) => ({
    payment: t.field({ type: PaymentRef, description: 'Its payment.', resolve: ({ payment }) => payment }),
  }),
})

const CancelCheckoutResultRef = resultUnion(
  'CancelCheckoutResult',
  CancelCheckoutPayloadRef,
  'A checkout that is cancelled, or why it is not.',
)

builder.mutationField('cancelCheckout', (t) =>
  t.field({
    type: CancelCheckoutResultRef,
    description:
      'Ends an unpaid checkout of the channel, and frees its places at once. One that is cancelled already is answered as it is.',
    args: { paymentId: t.arg.id({ required: true, description: 'Its payment.' }) },
    resolve: (_root, { paymentId }, ctx) =>
      catchRefusal(async () => ({ payment: await cancelCheckout(paymentId, ctx) })),
  }),
)
