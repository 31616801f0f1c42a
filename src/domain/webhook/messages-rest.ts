import type { z } from 'zod'
import { type Change, changeDescriptions, changeType } from '../change/table.ts'
import { paymentChangeBody } from '../payment/body.ts'
import { supplementRedeemedBody, ticketChangeBody, ticketEnteredBody } from '../ticket/body.ts'
import { rateChangeBody } from '../ticket-rate/body.ts'
import type { DocumentedWebhook } from './openapi-webhooks.ts'

type Data = Record<string, string | number | string[]>

// Makes examples of a subject, and of the state of it that a change tells. `facts` are those that differ from the example
// of the body.
const payloadsOf =
  ({ schema, example }: { schema: z.ZodType; example: Data }, subjectId: string) =>
  (facts: Data, body = schema) => ({ subjectId, body, data: { ...example, ...facts } })

const payment = payloadsOf(paymentChangeBody, paymentChangeBody.example.payment_id)
const ticket = payloadsOf(ticketChangeBody, ticketChangeBody.example.ticket_id)
const rate = payloadsOf(rateChangeBody, rateChangeBody.example.ticket_rate_id)({})

const payloads: Record<Change['type'], typeof rate> = {
  'payment.paid': payment({ status: 'paid' }),
  'payment.failed': payment({ status: 'failed' }),
  'payment.expired': payment({ status: 'expired' }),
  'payment.refunded': payment({ status: 'partially_refunded', refunded: 10 }),
  'ticket.activated': ticket({ status: 'activated' }),
  'ticket.cancelled': ticket({ status: 'cancelled' }),
  'ticket.entered': ticket({ enter: 1, people: 1 }, ticketEnteredBody),
  'ticket.updated': ticket({}),
  'ticket.transferred': ticket({}),
  'ticket.supplement_redeemed': ticket(
    { enter: 1, supplement_id: 'sup_01jd8r6t6a2c4e6g8j1m3p5r7t', redeemed: 1, left: 2 },
    supplementRedeemedBody,
  ),
  'rate.sold_out': rate,
  'rate.available': rate,
}

/** Messages that webhooks receive, one per type of change (DECISIONS, changes). */
export const sentMessages: DocumentedWebhook[] = changeType.enumValues.map((type) => {
  const { subjectId, body, data } = payloads[type]
  const timestamp = '2026-11-22T18:04:11.000Z'
  return {
    type,
    description: changeDescriptions[type],
    body,
    example: { type, timestamp, subject_id: subjectId, sequence: 1, data },
  }
})
