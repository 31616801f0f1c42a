import { z } from 'zod'
import { mutation, objectResult } from '../../../graphql/mutation-result.ts'
import { id } from '../../../shared/input-types.ts'
import { PaymentRef } from '../../payment/graphql.ts'
import { cancelCheckout } from './cancel-checkout.ts'

mutation('cancelCheckout', {
  description:
    'Cancels an unpaid checkout of the channel and makes its places available again at once. Channels only. Idempotent: returns a checkout that is already cancelled unchanged.',
  input: z
    .strictObject({ paymentId: id.describe('Identifier of the payment of the checkout.') })
    .describe('Checkout to cancel.'),
  result: objectResult(
    'CancelCheckout',
    ['payment', PaymentRef],
    'Payment of the cancelled checkout',
    'Its places are available again.',
  ),
  run: async ({ paymentId }, ctx) => ({ payment: await cancelCheckout(paymentId, ctx) }),
})
