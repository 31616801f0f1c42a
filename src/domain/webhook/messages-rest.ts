import { z } from 'zod'
import type { Schemas } from '../../engine/rest/openapi/json-schemas.ts'
import type { Operation } from '../../engine/rest/openapi/operation.ts'
import { type Change, changeDescriptions, changeType } from '../change/table.ts'
import { paymentChangeBody } from '../payment/body.ts'
import { supplementRedeemedBody, ticketChangeBody, ticketEnteredBody } from '../ticket/body.ts'
import { rateChangeBody } from '../ticket-rate/body.ts'

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
export const sentMessages = changeType.enumValues.map((type) => {
  const { subjectId, body, data } = payloads[type]
  const timestamp = '2026-11-22T18:04:11.000Z'
  return {
    type,
    description: changeDescriptions[type],
    body,
    example: { type, timestamp, subject_id: subjectId, sequence: 1, data },
  }
})

const header = (name: string, description: string, example: string | number) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: typeof example === 'number' ? 'integer' : 'string' },
  example,
})

// Headers of Standard Webhooks.
const parameters = [
  header(
    'webhook-id',
    'Identifier of the change: the same for each attempt, and the `id` in the feed.',
    'chg_01jd8s2x1b7d3f9h5k1m7p3r9t',
  ),
  header(
    'webhook-timestamp',
    'Time of the attempt in Unix seconds. Refuse one that is some minutes off.',
    1_795_273_201,
  ),
  header(
    'webhook-signature',
    'Space-separated signatures `v1,<base64>`: HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}` with the secret of the webhook. Two of them for 24 hours after a rotation.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

const responses = {
  '2XX': { description: 'The message was received. Its body is not read.' },
  '410': { description: 'The receiver is gone: the webhook is disabled.' },
  '429': {
    description: 'The receiver is busy: the webhook pauses for `Retry-After` seconds, or for a minute.',
  },
  default: {
    description:
      'The message is sent again: after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h. Redirects are not followed, and the whole answer has 10 s.',
  },
}

const nameOf = (type: string) =>
  type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())

const toSchema = ({ type, description, body }: (typeof sentMessages)[number]) =>
  z
    .object({
      type: z.literal(type).describe('Type of the change.'),
      timestamp: z.iso.datetime().describe('Time of the change.'),
      subject_id: z.string().describe('Identifier of the payment, ticket or rate that changed.'),
      sequence: z.int().min(1).describe('Number of the change among those of its subject: 1, 2, 3.'),
      data: body,
    })
    .meta({ id: `${nameOf(type)}Message`, description })

/** Documents what the service sends to webhooks, as operations of the receiver. */
export const toWebhooks = (schemas: Schemas): Record<string, { post: Operation }> =>
  Object.fromEntries(
    sentMessages.map((message) => {
      const { type, description, example } = message
      const schema = schemas.convert(toSchema(message), 'output')
      const post = {
        operationId: `receive${nameOf(type)}`,
        summary: `Receive \`${type}\``,
        description: `${description} Sent at least once to webhooks of this type, signed in the form of Standard Webhooks; messages of a subject may arrive in any order.`,
        tags: ['Webhooks'],
        security: [],
        parameters,
        requestBody: { description, required: true, content: { 'application/json': { schema, example } } },
        responses,
      }
      return [type, { post }]
    }),
  )
