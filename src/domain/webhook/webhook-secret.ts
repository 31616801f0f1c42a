import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** A new secret: 256 random bits, as Standard Webhooks writes them. */
export const newWebhookSecret = (): string => `${prefix}${randomBytes(32).toString('base64')}`

/** The signature of a message, by each secret that is live (Standard Webhooks, `webhook-signature`). */
export const signatures = (secrets: string[], { id, timestamp, body }: Message): string =>
  secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(prefix.length), 'base64')
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
    })
    .join(' ')

/** What is signed. The timestamp is that of the attempt, in unix seconds. */
export type Message = { id: string; timestamp: number; body: string }
