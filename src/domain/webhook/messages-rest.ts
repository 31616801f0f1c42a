import type { z } from 'zod'
import type { DocumentedWebhook } from '../../rest/openapi/webhooks.ts'
import { type Change, changeDescriptions, changeType } from '../change/table.ts'
import { paymentChangeBody } from '../payment/body.ts'
import { supplementRedeemedBody, ticketChangeBody, ticketEnteredBody } from '../ticket/body.ts'
import { rateChangeBody } from '../ticket-rate/body.ts'

/** Subject of a change, and the state of it that the change tells. */
type Payload = { subjectId: string; body: z.ZodType; data: Record<string, string | number> }

const payment = (status: string, refunded = 0): Payload => ({
  subjectId: paymentChangeBody.example.payment_id,
  body: paymentChangeBody.schema,
  data: { ...paymentChangeBody.example, status, refunded },
})

const ticket = (
  status: string,
  enter = 0,
  body: z.ZodType = ticketChangeBody.schema,
  facts: Payload['data'] = {},
): Payload => ({
  subjectId: ticketChangeBody.example.ticket_id,
  body,
  data: { ...ticketChangeBody.example, status, enter, ...facts },
})

const rate: Payload = {
  subjectId: rateChangeBody.example.ticket_rate_id,
  body: rateChangeBody.schema,
  data: rateChangeBody.example,
}

const payloads: Record<Change['type'], Payload> = {
  'payment.paid': payment('paid'),
  'payment.failed': payment('failed'),
  'payment.expired': payment('expired'),
  'payment.refunded': payment('partially_refunded', 10),
  'ticket.activated': ticket('activated'),
  'ticket.cancelled': ticket('cancelled'),
  'ticket.entered': ticket('activated', 1, ticketEnteredBody, { people: 1 }),
  'ticket.updated': ticket('activated'),
  'ticket.transferred': ticket('activated'),
  'ticket.supplement_redeemed': ticket('activated', 1, supplementRedeemedBody, {
    supplement_id: 'sup_01jd8r6t6a2c4e6g8j1m3p5r7t',
    redeemed: 1,
    left: 2,
  }),
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
