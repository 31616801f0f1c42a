import { z } from 'zod'
import { answerOf } from '../../engine/rest/body.ts'
import { route } from '../../engine/rest/route.ts'
import { exampleIds } from '../contract/ids.ts'
import { paymentBody } from './body.ts'
import { requirePayment } from './loaders.ts'

/** Serves GET /payments/{paymentId}, `payment` of GraphQL for clients of REST (DECISIONS 119). */
export const paymentRoute = route({
  method: 'GET',
  url: '/payments/:paymentId',
  needs: { caller: 'confidential', scope: 'tickets:read' },
  schema: {
    operationId: 'readPayment',
    summary: 'Read one payment',
    description:
      'Reads one payment that the channel made, or that the organization of the integration sold; `redirect_url` and `error_url` are called with its `payment_id`. Its tickets are at `GET /tickets?payment_id=…`.',
    tags: ['Channels', 'Integrations'],
    params: z.object({ paymentId: z.string().describe('Payment identifier.') }),
    querystring: z.strictObject({}),
    response: { 200: answerOf('PaymentResponse', 'The payment.', 'a payment', paymentBody.schema) },
    example: {
      params: { paymentId: exampleIds.paymentId },
      answer: { success: true, data: paymentBody.example },
    },
  },
  handler: async ({ params, ctx }) => {
    const payment = await requirePayment(params.paymentId, ctx)
    return { success: true as const, data: paymentBody.of(payment) }
  },
})
