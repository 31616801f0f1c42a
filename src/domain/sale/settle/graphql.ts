import { z } from 'zod'
import { id } from '../../../engine/base/input-types.ts'
import { mutation, oneObject } from '../../../engine/graphql/mutation-result.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import { cancelCheckout } from './cancel-checkout.ts'

mutation('cancelPayment', {
  description:
    'Cancels an unpaid payment, whose places are available again at once. One that is already cancelled is returned as it is.',
  input: z.strictObject({ paymentId: id.describe('Payment identifier.') }).describe('Payment to cancel.'),
  needs: { caller: 'channel', scope: 'none' },
  run: async ({ paymentId }, ctx) => ({ payment: await cancelCheckout(paymentId, ctx) }),
  payload: 'Cancelled payment.',
  fields: oneObject('payment', PaymentRef, 'Cancelled payment. Its places are available again.'),
})
