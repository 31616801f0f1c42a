import type { z } from 'zod'
import type { DocumentedWebhook } from '../../rest/openapi/webhooks.ts'
import { type Change, changeDescriptions, changeType } from '../change/table.ts'
import { paymentChangeBody } from '../payment/body.ts'
import { supplementRedeemedBody, ticketChangeBody, ticketEnteredBody } from '../ticket/body.ts'
import { rateChangeBody } from '../ticket-rate/body.ts'

type Data = Record<string, string | number | string[]>

/** Subject of a change, and the state of it that the change tells. */
type Payload = { subjectId: string; body: z.ZodType; data: Data }

// `facts` are those that differ from the example of the body.
const payment = (facts: Data): Payload => ({
  subjectId: paymentChangeBody.example.payment_id,
  body: paymentChangeBody.schema,
  data: { ...paymentChangeBody.example, ...facts },
})
const ticket = (facts: Data, body: z.ZodType = ticketChangeBody.schema): Payload => ({
  subjectId: ticketChangeBody.example.ticket_id,
  body,
  data: { ...ticketChangeBody.example, ...facts },
})
const rate: Payload = {
  subjectId: rateChangeBody.example.ticket_rate_id,
  body: rateChangeBody.schema,
  data: rateChangeBody.example,
}

const payloads: Record<Change['type'], Payload> = {
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

/** Messages that webhooks receive, one per type of change (DECISIONS 7). */
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
