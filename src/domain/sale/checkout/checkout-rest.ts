import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type Context, requireChannel, type Services } from '../../../request/context.ts'
import { authenticatedCheckout, errorBody } from '../../../rest/route.ts'
import { inSnakeCase } from '../../../rest/snake-case.ts'
import * as scalars from '../../../shared/input-types.ts'
import { toMajor } from '../../../shared/money.ts'
import { paymentUrl } from '../../payment/payment-url.ts'
import type { Ticket } from '../../ticket/table.ts'
import { checkoutBody } from './checkout-input.ts'
import { checkoutTickets } from './checkout-tickets.ts'
import { issuedTicketBody, toIssuedTicketBody } from './issued-body.ts'

const checkoutAnswer = z
  .object({
    data: z.object({
      payment_id: z.string(),
      payment_url: z.url().meta({ description: 'Payment page to send the buyer to.' }),
      total_amount: z.number().meta({ description: 'Amount the buyer pays, in major units.' }),
      tickets: z.array(issuedTicketBody),
      conditions_changed: z.boolean().meta({
        description:
          "True if a requested price was no longer available and the rate's current price replaced it. Show the buyer the new total before asking for payment.",
      }),
    }),
  })
  .meta({ description: 'Successful checkout. The tickets are held until the payment expires.' })

async function issuedTicket(ticket: Ticket, { loaders }: Context) {
  const price = await loaders.priceById.load(ticket.priceId)
  if (!price) throw new Error(`price of ticket ${ticket.id} not found`)
  return toIssuedTicketBody(ticket, price)
}

/** Serves POST /tickets/checkout (INTERFACE, checkout; DECISIONS 4). */
export const checkoutRoutes =
  (services: Services): FastifyPluginAsyncZod =>
  async (app) => {
    app.post(
      '/tickets/checkout',
      {
        preParsing: authenticatedCheckout(services, requireChannel),
        schema: {
          operationId: 'checkoutTickets',
          summary: 'Check out tickets of one rate',
          description:
            'Holds tickets of one rate, all or none, until the payment expires. Retrying with the same `Idempotency-Key` and body returns the first response for 24 hours, marked `Idempotent-Replayed: true`.',
          tags: ['Channels'],
          security: [{ apiKey: [] }],
          headers: z.object({ 'idempotency-key': scalars.idempotencyKey.optional() }),
          body: inSnakeCase(checkoutBody),
          response: { 200: checkoutAnswer, '4xx': errorBody },
        },
      },
      async ({ body, headers, ctx }, reply) => {
        const checkout = await checkoutTickets({ ...body, idempotencyKey: headers['idempotency-key'] }, ctx)
        const { payment, tickets, replayed } = checkout
        if (replayed) reply.header('idempotent-replayed', 'true')
        return {
          data: {
            payment_id: payment.id,
            payment_url: paymentUrl(payment, services.publicUrl()),
            total_amount: toMajor(payment.totalAmount, payment.currency),
            tickets: await Promise.all(tickets.map((ticket) => issuedTicket(ticket, ctx))),
            conditions_changed: payment.conditionsChanged,
          },
        }
      },
    )
  }
