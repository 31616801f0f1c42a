import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { requireConfidential, requireScope, type Services } from '../../request/context.ts'
import { authenticated } from '../../rest/authenticate.ts'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { Refusal } from '../../shared/errors.ts'
import { paymentBody, paymentExample, toPaymentBody } from './body.ts'
import { paymentById } from './loaders.ts'

const paymentAnswer = z
  .object({ success: z.literal(true).describe('Always true for a payment.'), data: paymentBody })
  .meta({ id: 'PaymentResponse', description: 'The payment.' })

/** Serves GET /payments/{paymentId}, `payment` of GraphQL for clients of REST (DECISIONS 281). */
export const paymentRoutes =
  (services: Services): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/payments/:paymentId',
      {
        preParsing: authenticated<FastifyRequest<{ Params: { paymentId: string } }>>(
          services,
          (ctx) => requireConfidential(ctx) && requireScope(ctx, 'GET /payments/{paymentId}'),
        ),
        schema: {
          operationId: 'readPayment',
          summary: 'Read one payment',
          description:
            'Reads one payment that the channel made, or that the organization of the integration sold; `redirect_url` and `error_url` are called with its `payment_id`. Its tickets are at `GET /tickets?payment_id=…`.',
          tags: ['Channels', 'Integrations'],
          security: [{ channelKey: [] }, { integrationKey: [] }, { integrationId: [], secret: [] }],
          params: z.object({ paymentId: z.string().describe('Payment identifier.') }),
          querystring: z.strictObject({}),
          response: { 200: paymentAnswer },
          example: {
            params: { paymentId: exampleIds.paymentId },
            answer: { success: true, data: paymentExample },
          },
        },
      },
      async ({ params, ctx }, reply) => {
        const payment = await ctx.loaders.load(paymentById, params.paymentId)
        if (!payment)
          throw new Refusal({
            code: 'NOT_FOUND',
            message: 'There is no such payment.',
            path: ['paymentId'],
          })
        reply.header('cache-control', 'private, no-store')
        return { success: true as const, data: toPaymentBody(payment) }
      },
    )
  }
