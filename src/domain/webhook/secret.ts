import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** Generates a secret: 256 random bits in the format of Standard Webhooks. */
export const newWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`

/** Signed parts of a message. The timestamp is the time of the attempt, in Unix seconds. */
type Message = { id: string; timestamp: number; body: string }

/** Signs a message with each live secret: the value of `webhook-signature` (Standard Webhooks). */
export const signMessage = (secrets: string[], { id, timestamp, body }: Message): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')
