import { isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { isDatabaseUrl, splitDatabaseUrls } from './database-url.ts'
import {
  type DeliveryConfig,
  deliveryConfigOf,
  deliveryContradictionsIn,
  deliverySettings,
} from './delivery.ts'
import { httpSettings } from './http.ts'
import { retentionSettings } from './retention.ts'
import { baseUrl, wholeNumber } from './setting-types.ts'
import { type StripeSettings, stripeContradictionsIn, stripeEnvironment, stripeSettingsOf } from './stripe.ts'

const databaseUrl = z.string().refine(isDatabaseUrl, 'must be a postgres:// address')

const trueOrFalse = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')

// Environment variables that the service uses as they are, under their names in camel case.
const plainSettings = z.object({
  PORT: wholeNumber(0, 65_535).default(4000),
  HOST: z.string().min(1).default('127.0.0.1'),
  /** Base URL at which buyers and clients reach the service; if unset, derived from the address that it
   *  listens on. */
  PUBLIC_URL: baseUrl.optional(),
  /** Number of processes that serve the port. */
  WEB_CONCURRENCY: wholeNumber(1, 128).default(1),
  DATABASE_URL: databaseUrl.optional(),
  /** `transaction` if DATABASE_URL leads to a pooler in transaction mode. */
  DATABASE_POOLER: z.enum(['none', 'transaction']).default('none'),
  /** URL of the database itself behind a pooler, for work that needs a session. */
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  /** Read replicas for the catalogue. */
  DATABASE_REPLICA_URLS: z.string().transform(splitDatabaseUrls).pipe(z.array(databaseUrl)).default([]),
  DATA_DIR: z
    .string()
    .min(1)
    .default('data')
    .transform((path) => (isAbsolute(path) ? path : resolve(path))),
  HOLD_MINUTES: wholeNumber(1, 24 * 60).default(15),
  /** Hours before the start of an event from which its tickets admit. */
  ADMISSION_HOURS: wholeNumber(0, 24 * 365).default(12),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  /** Maximum age of a cached catalogue response in milliseconds; 0 disables the response cache. */
  SHARED_READS_MS: wholeNumber(0, 60_000).default(1000),
  /** Number of events whose rows a process caches by revision; 0 disables that cache. */
  REMEMBERED_EVENTS: wholeNumber(0, 100_000).default(2000),
  PAYMENT_PROVIDER: z.enum(['sandbox', 'stripe']).default('sandbox'),
  /** Manifest of documents that clients may name by an identifier. */
  TRUSTED_DOCUMENTS: z
    .string()
    .transform((path) => resolve(path))
    .optional(),
  /** True to execute no other document. */
  TRUSTED_DOCUMENTS_ONLY: trueOrFalse,
  ...httpSettings,
  ...retentionSettings,
  SHUTDOWN_SECONDS: wholeNumber(1, 600).default(10),
})

const environment = z.object({
  ...plainSettings.shape,
  ...stripeEnvironment,
  ALLOW_SANDBOX_PAYMENTS: trueOrFalse,
  WEBHOOKS_TO_PRIVATE_ADDRESSES: trueOrFalse,
  NODE_ENV: z.string().default('development'),
  DRAIN_SECONDS: wholeNumber(0, 600).optional(),
  ...deliverySettings.shape,
})

type Settings = z.output<typeof environment>
type PlainSettings = z.output<typeof plainSettings>

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>
type PlainConfig = { [Name in keyof PlainSettings as CamelCase<Name>]: PlainSettings[Name] }

/** Settings of the service, as parsed from the environment. */
export type Config = PlainConfig & {
  /** Credentials for Stripe; null with another provider. */
  stripe: StripeSettings | null
  /** True if webhooks may go to private addresses and over plain HTTP, as in tests and private networks. */
  privateWebhooks: boolean
  /** Seconds for which the service still answers after a shutdown request, although it is not ready. */
  drainSeconds: number
  /** Channels by which buyers receive their tickets. */
  delivery: DeliveryConfig
}

const toCamelCase = (name: string): string =>
  name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

const plainConfigOf = (settings: PlainSettings): PlainConfig =>
  Object.fromEntries(
    plainSettings.keyof().options.map((name) => [toCamelCase(name), settings[name]]),
  ) as PlainConfig

/** Lists settings that contradict each other. */
function contradictionsIn(settings: Settings): string[] {
  const mistakes = [...deliveryContradictionsIn(settings), ...stripeContradictionsIn(settings)]
  if (
    settings.NODE_ENV === 'production' &&
    settings.PAYMENT_PROVIDER === 'sandbox' &&
    !settings.ALLOW_SANDBOX_PAYMENTS
  )
    mistakes.push(
      'PAYMENT_PROVIDER: sandbox takes no money; in production it needs ALLOW_SANDBOX_PAYMENTS=true',
    )
  if (settings.TRUSTED_DOCUMENTS_ONLY && !settings.TRUSTED_DOCUMENTS)
    mistakes.push('TRUSTED_DOCUMENTS_ONLY: needs TRUSTED_DOCUMENTS')
  if (settings.DATABASE_URL) return mistakes
  if (settings.WEB_CONCURRENCY > 1)
    mistakes.push(
      'WEB_CONCURRENCY: the embedded database belongs to one process; more than 1 needs DATABASE_URL',
    )
  if (settings.DATABASE_POOLER !== 'none') mistakes.push('DATABASE_POOLER: needs DATABASE_URL')
  if (settings.DIRECT_DATABASE_URL) mistakes.push('DIRECT_DATABASE_URL: needs DATABASE_URL')
  if (settings.DATABASE_REPLICA_URLS.length > 0) mistakes.push('DATABASE_REPLICA_URLS: needs DATABASE_URL')
  return mistakes
}

/** Parses the settings from environment variables. Throws one error that names every mistake, but no
 *  value. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  // An empty variable counts as unset, as in shells and compose files.
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(nonEmpty)
  const mistakes = parsed.success
    ? contradictionsIn(parsed.data)
    : parsed.error.issues.map((issue) => `${issue.path[0]?.toString() ?? ''}: ${issue.message}`)
  if (!parsed.success || mistakes.length > 0)
    throw new Error(`Settings are wrong:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`)
  const { data } = parsed
  return {
    ...plainConfigOf(data),
    privateWebhooks: data.WEBHOOKS_TO_PRIVATE_ADDRESSES,
    stripe: stripeSettingsOf(data),
    drainSeconds: data.DRAIN_SECONDS ?? (data.NODE_ENV === 'production' ? 5 : 0),
    delivery: deliveryConfigOf(data, join(data.DATA_DIR, 'mail')),
  }
}
