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
      payment_url: z.url().meta({ description: 'Where to send the buyer.' }),
      total_amount: z.number().meta({ description: 'What the buyer pays, in major units.' }),
      tickets: z.array(issuedTicketBody),
      conditions_changed: z.boolean().meta({
        description:
          "A named price can't be bought any more and the current one took its place: show the new total first.",
      }),
    }),
  })
  .meta({ description: 'The checkout: its tickets are held until the payment expires.' })

async function issuedTicket(ticket: Ticket, { loaders }: Context) {
  const price = await loaders.priceById.load(ticket.priceId)
  if (!price) throw new Error('a ticket is sold at a price')
  return toIssuedTicketBody(ticket, price)
}

/** POST /tickets/checkout (INTERFACE, checkout; DECISIONS 4). */
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
            'Holds the tickets, all or none, until the payment expires. The same `Idempotency-Key` and body give the first answer again for 24 hours, marked `Idempotent-Replayed: true`.',
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
