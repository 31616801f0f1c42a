import { z } from 'zod'
import { isOrigin } from '../../../engine/config/setting-types.ts'

/** Credentials for Stripe. There are two webhook secrets while one is being rotated. */
export type StripeSettings = { secretKey: string; webhookSecrets: string[]; apiBase: string }

const api = 'https://api.stripe.com'

/** Environment variables for Stripe. */
export const stripeEnvironment = {
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^[rs]k_(test|live)_\w+$/, 'must be a key such as sk_live_…')
    .optional(),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .transform((list) => list.split(',').map((secret) => secret.trim()))
    .pipe(z.array(z.string().regex(/^whsec_\S+$/, 'must be a comma-separated list of whsec_…')))
    .default([]),
  STRIPE_API_BASE: z
    .string()
    .transform((address) => address.replace(/\/$/, ''))
    .refine(isOrigin, `must be an origin such as ${api}`)
    .optional(),
}

// A Stripe session lasts half an hour longer than the hold, and Stripe's maximum is 24 hours.
export const maxHoldMinutes = 23 * 60

/** Builds the Stripe configuration; null if Stripe is not the payment provider. */
export const stripeSettingsOf = ({
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecrets,
  STRIPE_API_BASE: apiBase = api,
}: z.output<z.ZodObject<typeof stripeEnvironment>>): StripeSettings | null =>
  secretKey ? { secretKey, webhookSecrets, apiBase } : null
