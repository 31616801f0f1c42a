import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { areWellFormed } from '../../../auth/authenticate.ts'
import type { Credentials } from '../../../auth/known-credentials.ts'
import { type Context, requireChannel, type Services } from '../../../request/context.ts'
import { authenticated } from '../../../rest/authenticate.ts'
import { errorBody } from '../../../rest/error-body.ts'
import { peekBody } from '../../../rest/peek-body.ts'
import { inSnakeCase } from '../../../rest/snake-case.ts'
import * as scalars from '../../../shared/input-types.ts'
import { toMajor } from '../../../shared/money.ts'
import { paymentUrl } from '../../payment/payment-url.ts'
import type { Ticket } from '../../ticket/table.ts'
import { priceById } from '../../ticket-rate/loaders.ts'
import { checkoutBody } from './checkout-input.ts'
import { checkoutTickets } from './checkout-tickets.ts'
import { issuedTicketBody, toIssuedTicketBody } from './issued-body.ts'
import { createCheckoutContext } from './terms-loaders.ts'

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

// Prefetches by a guess: whoever checks out goes by what the body says once it is parsed.
const ticketRateId = /"ticket_rate_id"\s*:\s*"([\w.:-]+)"/

async function createContextOfCheckout(
  services: Services,
  credentials: Credentials,
  { raw }: FastifyRequest,
): Promise<Context> {
  const body = areWellFormed(credentials) ? await peekBody(raw) : null
  const [, id = null] = ticketRateId.exec(body ?? '') ?? []
  return createCheckoutContext(services, credentials, id)
}

async function issuedTicket(ticket: Ticket, { loaders }: Context) {
  const price = await loaders.load(priceById, ticket.priceId)
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
        preParsing: authenticated(services, requireChannel, createContextOfCheckout),
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
