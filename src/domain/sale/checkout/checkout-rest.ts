import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import * as scalars from '../../../engine/base/input-types.ts'
import * as field from '../../../engine/rest/body.ts'
import { body } from '../../../engine/rest/body.ts'
import { peekBody } from '../../../engine/rest/peek-body.ts'
import { route } from '../../../engine/rest/route.ts'
import { inSnakeCase } from '../../../engine/rest/snake-case.ts'
import type { Context } from '../../caller/context.ts'
import { isTest } from '../../caller/mode.ts'
import { exampleIds } from '../../contract/ids.ts'
import { paymentUrl } from '../../payment/payment-url.ts'
import type { Payment } from '../../payment/table.ts'
import type { Ticket } from '../../ticket/table.ts'
import { priceById } from '../../ticket-rate/loaders.ts'
import { checkoutBody } from './checkout-input.ts'
import { checkoutTickets } from './checkout-tickets.ts'
import { issuedTicketBody } from './issued-body.ts'
import { createCheckoutContext } from './terms-loaders.ts'

/** Values that a checkout is shown with, beside its payment. */
type Beside = { url: string; tickets: z.output<typeof issuedTicketBody.schema>[] }

const checkoutData = body(
  'Checkout',
  'Successful checkout. The tickets are held until the payment expires. With a total of 0 they are paid already.',
  {
    payment_id: field.text('id', 'Payment identifier.', 'pay_01jd8s2w7b6d2f9h5k7n1q4s6v'),
    payment_url: field.of(
      (_payment: Payment, { url }: Beside) => url,
      z.url().describe('Payment page to send the buyer to.'),
      'https://tickets.example/pay/Qm3c7R1xV9tY5nK2w8Zp4sLh',
    ),
    test: isTest('True with a test key; absent otherwise.'),
    total_amount: field.amount('totalAmount', 'Amount that the buyer pays, in major units.', 21.6),
    tickets: field.of(
      (_payment: Payment, { tickets }: Beside) => tickets,
      z
        .array(issuedTicketBody.schema)
        .describe('Tickets, one per entry of the request; empty with a publishable key.'),
      [issuedTicketBody.example],
    ),
    conditions_changed: field.flag(
      'conditionsChanged',
      "True if a requested price was no longer available and the rate's current price replaced it, or if the total is lower than `expected_total`. Show the buyer the new total before asking for payment.",
      false,
    ),
  },
)

const checkoutAnswer = z
  .object({ data: checkoutData.schema })
  .meta({ id: 'CheckoutResponse', description: 'Successful checkout.' })

const checkoutRefusals = [
  'ORIGIN_NOT_ALLOWED',
  'NOT_FOUND',
  'SOLD_OUT',
  'INSUFFICIENT_AVAILABILITY',
  'RATE_CLOSED',
  'NOT_ON_SALE_YET',
  'SALE_ENDED',
  'EVENT_STARTED',
  'DISCOUNT_USED_UP',
  'TOTAL_INCREASED',
  'TOTAL_TOO_LOW',
  'QR_CODE_TAKEN',
  'IDEMPOTENCY_KEY_IN_USE',
  'METADATA_TOO_LARGE',
  'TOO_FEW_TICKETS',
  'TOO_MANY_TICKETS',
  'PRICE_NOT_IN_RATE',
  'SUPPLEMENT_NOT_IN_RATE',
  'DUPLICATE_SUPPLEMENT',
  'QUESTION_NOT_IN_RATE',
  'DUPLICATE_ANSWER',
  'ANSWER_REQUIRED',
  'ANSWER_NOT_OFFERED',
  'WARRANTY_NOT_OFFERED',
  'UNDER_AGE',
  'DISCOUNT_UNKNOWN',
  'DISCOUNT_NOT_VALID',
  'DISCOUNT_NOT_FOR_RATE',
  'DUPLICATE_QR_CODE',
  'IDEMPOTENCY_KEY_REUSED',
] as const

// Guesses the rate from the raw body, to prefetch its terms. The checkout itself uses the parsed body.
const ticketRateId = /"ticket_rate_id"\s*:\s*"([\w.:-]+)"/

async function guessTicketRateId({ raw, credentials }: FastifyRequest): Promise<string | null> {
  const body = credentials.areWellFormed ? await peekBody(raw) : null
  return ticketRateId.exec(body ?? '')?.[1] ?? null
}

async function loadIssuedTicket(ticket: Ticket, { loaders }: Context) {
  const price = await loaders.load(priceById, ticket.priceId)
  if (!price) throw new Error(`price of ticket ${ticket.id} not found`)
  return issuedTicketBody.of(ticket, price)
}

/** Serves POST /tickets/checkout (INTERFACE, checkout; DECISIONS, checkout). */
export const checkoutRoute = route({
  method: 'POST',
  url: '/tickets/checkout',
  needs: {
    caller: 'selling',
    scope: 'none',
    prefetch: { context: createCheckoutContext, idOf: guessTicketRateId },
  },
  schema: {
    operationId: 'checkoutTickets',
    summary: 'Check out tickets of one rate',
    description:
      'Holds tickets of one rate, all or none, until the payment expires. With a total of 0 they are paid already. Channels only. Retrying with the same `Idempotency-Key` and body returns the first response for 24 hours, marked `Idempotent-Replayed: true`.',
    tags: ['Channels'],
    headers: z.object({
      'idempotency-key': scalars.idempotencyKey
        .optional()
        .describe(
          'Key that makes retries safe: the same key and body return the first response for 24 hours.',
        ),
    }),
    body: inSnakeCase(checkoutBody, { sendTickets: 'send_resourcers' }),
    response: { 200: checkoutAnswer },
    refuses: checkoutRefusals,
    sends: ['Idempotent-Replayed'],
    example: {
      others: { 'idempotency-key': 'order-0042' },
      body: {
        ticket_rate_id: exampleIds.ticketRateId,
        tickets: [{ price_id: exampleIds.priceId, full_name: 'Ada Lovelace', email: 'ada@example.com' }],
      },
      answer: { data: checkoutData.example },
    },
  },
  handler: async ({ body, headers, ctx }, reply) => {
    const idempotencyKey = headers['idempotency-key']
    const { payment, tickets, replayed } = await checkoutTickets({ ...body, idempotencyKey }, ctx)
    if (replayed) reply.header('idempotent-replayed', 'true')
    const issued = await Promise.all(tickets.map((ticket) => loadIssuedTicket(ticket, ctx)))
    const url = paymentUrl(payment, ctx.services.publicUrl())
    return { data: checkoutData.of(payment, { url, tickets: issued }) }
  },
})
