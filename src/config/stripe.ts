import { z } from 'zod'
import { isOrigin, mistakesIn } from './setting-types.ts'

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

type Environment = z.output<z.ZodObject<typeof stripeEnvironment>>

type Settings = Environment & {
  PAYMENT_PROVIDER: string
  ALLOW_SANDBOX_PAYMENTS: boolean
  NODE_ENV: string
  HOLD_MINUTES: number
}

// A Stripe session lasts half an hour longer than the hold, and Stripe's maximum is 24 hours.
const maxHoldMinutes = 23 * 60

/** Lists Stripe settings that contradict others. */
export function stripeContradictionsIn(settings: Settings): string[] {
  const { STRIPE_SECRET_KEY: key, STRIPE_WEBHOOK_SECRET: secrets, STRIPE_API_BASE: base } = settings
  if (settings.PAYMENT_PROVIDER !== 'stripe')
    return mistakesIn({
      'STRIPE_SECRET_KEY: needs PAYMENT_PROVIDER=stripe': key,
      'STRIPE_WEBHOOK_SECRET: needs PAYMENT_PROVIDER=stripe': secrets.length > 0,
      'STRIPE_API_BASE: needs PAYMENT_PROVIDER=stripe': base,
    })
  const isTest = key !== undefined && /^.k_test_/.test(key)
  return mistakesIn({
    'STRIPE_SECRET_KEY: PAYMENT_PROVIDER=stripe needs it': !key,
    'STRIPE_WEBHOOK_SECRET: PAYMENT_PROVIDER=stripe needs it': secrets.length === 0,
    [`HOLD_MINUTES: must be at most ${maxHoldMinutes} with PAYMENT_PROVIDER=stripe`]:
      settings.HOLD_MINUTES > maxHoldMinutes,
    'STRIPE_SECRET_KEY: a test key takes no money; in production it needs ALLOW_SANDBOX_PAYMENTS=true':
      isTest && settings.NODE_ENV === 'production' && !settings.ALLOW_SANDBOX_PAYMENTS,
  })
}

/** Builds the Stripe configuration; null if Stripe is not the payment provider. */
export const stripeSettingsOf = ({
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecrets,
  STRIPE_API_BASE: apiBase = api,
}: Environment): StripeSettings | null => (secretKey ? { secretKey, webhookSecrets, apiBase } : null)
