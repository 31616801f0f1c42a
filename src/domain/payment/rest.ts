import { z } from 'zod'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { route } from '../../rest/route.ts'
import { Refusal } from '../../shared/errors.ts'
import { toMajor } from '../../shared/money.ts'
import { paymentById } from './loaders.ts'
import { type Payment, paymentStatus } from './table.ts'

/** JSON shape of a payment that is read back (DECISIONS 281). */
const paymentBody = z
  .object({
    _id: z.string().describe('Payment identifier.'),
    ticket_rate_id: z.string().describe('Identifier of the ticket rate.'),
    status: z.enum(paymentStatus.enumValues).describe('Payment status.'),
    expires_at: z.iso.datetime().describe('Time when the hold on the tickets of an unpaid payment ends.'),
    paid_at: z.iso.datetime().nullable().describe('Time of payment; null if unpaid.'),
    total_amount: z.number().describe('Amount that the buyer pays, in major units.'),
    refunded: z.number().describe('Amount refunded so far, in major units.'),
    currency: z.string().describe('Currency of the amounts, as an ISO 4217 code.'),
    invoice_reference: z.string().nullable().describe('Invoice reference; null if there is none.'),
    created_at: z.iso.datetime().describe('Time of the checkout.'),
    test: z.literal(true).optional().describe('True of a test sale; absent from any other.'),
  })
  .meta({ id: 'Payment', description: 'Payment for one checkout.' })

type PaymentBody = z.output<typeof paymentBody>

/** Payment in the examples of the documentation. */
const paymentExample: PaymentBody = {
  _id: exampleIds.paymentId,
  ticket_rate_id: exampleIds.ticketRateId,
  status: 'paid',
  expires_at: '2026-11-21T15:15:00.000Z',
  paid_at: '2026-11-21T15:02:11.000Z',
  total_amount: 22,
  refunded: 0,
  currency: 'EUR',
  invoice_reference: 'F2026-000042',
  created_at: '2026-11-21T15:00:00.000Z',
}

/** Converts a payment to its JSON shape, with amounts in major units. */
const toPaymentBody = (payment: Payment): PaymentBody => ({
  _id: payment.id,
  ticket_rate_id: payment.ticketRateId,
  status: payment.status,
  expires_at: payment.expiresAt.toISOString(),
  paid_at: payment.paidAt?.toISOString() ?? null,
  total_amount: toMajor(payment.totalAmount, payment.currency),
  refunded: toMajor(payment.refundedAmount, payment.currency),
  currency: payment.currency,
  invoice_reference: payment.invoiceReference,
  created_at: payment.createdAt.toISOString(),
  ...(payment.mode === 'test' && { test: true as const }),
})

const paymentAnswer = z
  .object({ success: z.literal(true).describe('Always true for a payment.'), data: paymentBody })
  .meta({ id: 'PaymentResponse', description: 'The payment.' })

/** Serves GET /payments/{paymentId}, `payment` of GraphQL for clients of REST (DECISIONS 281). */
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
    response: { 200: paymentAnswer },
    example: {
      params: { paymentId: exampleIds.paymentId },
      answer: { success: true, data: paymentExample },
    },
  },
  handler: async ({ params, ctx }, reply) => {
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
})
