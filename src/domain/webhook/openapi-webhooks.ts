import { z } from 'zod'
import type { Schemas } from '../../engine/rest/openapi/json-schemas.ts'
import type { Operation } from '../../engine/rest/openapi/operation.ts'

/** A message that the service sends. */
export type DocumentedWebhook = {
  /** Type of the change, such as `payment.paid`. */
  type: string
  description: string
  body: z.ZodType
  example: unknown
}

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

function toMessage({ type, description, body }: DocumentedWebhook) {
  return z
    .object({
      type: z.literal(type).describe('Type of the change.'),
      timestamp: z.iso.datetime().describe('Time of the change.'),
      subject_id: z.string().describe('Identifier of the payment, ticket or rate that changed.'),
      sequence: z.int().min(1).describe('Number of the change among those of its subject: 1, 2, 3.'),
      data: body,
    })
    .meta({ id: `${nameOf(type)}Message`, description })
}

/** Documents what the service sends to webhooks, as operations of the receiver. */
export const toWebhooks = (
  webhooks: readonly DocumentedWebhook[],
  schemas: Schemas,
): Record<string, { post: Operation }> =>
  Object.fromEntries(
    webhooks.map((webhook) => {
      const { type, description, example } = webhook
      const schema = schemas.convert(toMessage(webhook), 'output')
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
