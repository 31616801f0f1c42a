import { isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { isDatabaseUrl, splitDatabaseUrls } from './database-url.ts'
import {
  type DeliveryConfig,
  deliveryConfigOf,
  deliveryContradictionsIn,
  deliverySettings,
} from './delivery.ts'
import { type HttpConfig, httpConfigOf, httpSettings } from './http.ts'
import { wholeNumber } from './setting-types.ts'
import { type StripeSettings, stripeContradictionsIn, stripeEnvironment, stripeSettingsOf } from './stripe.ts'

const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' })

const databaseUrl = z.string().refine(isDatabaseUrl, 'must be a postgres:// address')

const trueOrFalse = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true')

const environment = z.object({
  PORT: wholeNumber(0, 65_535).default(4000),
  HOST: z.string().min(1).default('127.0.0.1'),
  PUBLIC_URL: httpUrl.transform((url) => url.replace(/\/+$/, '')).optional(),
  WEB_CONCURRENCY: wholeNumber(1, 128).default(1),
  DATABASE_URL: databaseUrl.optional(),
  DATABASE_POOLER: z.enum(['none', 'transaction']).default('none'),
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  DATABASE_REPLICA_URLS: z.string().transform(splitDatabaseUrls).pipe(z.array(databaseUrl)).default([]),
  DATA_DIR: z
    .string()
    .min(1)
    .default('data')
    .transform((path) => (isAbsolute(path) ? path : resolve(path))),
  HOLD_MINUTES: wholeNumber(1, 24 * 60).default(15),
  ADMISSION_HOURS: wholeNumber(0, 24 * 365).default(12),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  SHARED_READS_MS: wholeNumber(0, 60_000).default(1000),
  REMEMBERED_EVENTS: wholeNumber(0, 100_000).default(2000),
  PAYMENT_PROVIDER: z.enum(['sandbox', 'stripe']).default('sandbox'),
  ...httpSettings,
  ...stripeEnvironment,
  ALLOW_SANDBOX_PAYMENTS: trueOrFalse,
  WEBHOOKS_TO_PRIVATE_ADDRESSES: trueOrFalse,
  NODE_ENV: z.string().default('development'),
  SHUTDOWN_SECONDS: wholeNumber(1, 600).default(10),
  DRAIN_SECONDS: wholeNumber(0, 600).optional(),
  ...deliverySettings.shape,
})

type Settings = z.output<typeof environment>

/** What the service is told at its start. Times in minutes and seconds, as named. */
export type Config = HttpConfig & {
  port: number
  host: string
  /** Where buyers and clients reach the service; from the port that it listens on where it is not set. */
  publicUrl: string | undefined
  /** Processes that serve the port together. */
  webConcurrency: number
  databaseUrl: string | undefined
  /** Whether `databaseUrl` leads to a pooler that gives a connection to one transaction after another. */
  databasePooler: 'none' | 'transaction'
  /** Where the database itself is reached, for what needs a session of its own. */
  directDatabaseUrl: string | undefined
  /** Copies of the database that the catalogue is read from. */
  databaseReplicaUrls: string[]
  dataDir: string
  holdMinutes: number
  /** How long before an event starts its tickets admit. */
  admissionHours: number
  logLevel: Settings['LOG_LEVEL']
  /** How old the answer to a catalogue read may be, in milliseconds, when it is shared; 0 shares none. */
  sharedReadsMs: number
  /** How many events' rows a process remembers by their revisions; 0 for none. */
  rememberedEvents: number
  paymentProvider: Settings['PAYMENT_PROVIDER']
  /** What reaches Stripe; null with another provider. */
  stripe: StripeSettings | null
  /** Whether webhooks may lead to private addresses, and over plain HTTP: for tests,
   *  and inside a network of one's own. */
  privateWebhooks: boolean
  shutdownSeconds: number
  /** How long it goes on answering, told to end, while it says that it is not ready. */
  drainSeconds: number
  /** What buyers are sent their tickets by. */
  delivery: DeliveryConfig
}

/** What is wrong with settings that are right each by itself. */
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

/** Reads the settings from an environment. Throws one error that names every mistake, and never a value. */
export function parseConfig(env: Record<string, string | undefined>): Config {
  // An empty variable is one that isn't set: that is how shells and compose files say it.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environment.safeParse(given)
  const mistakes = parsed.success
    ? contradictionsIn(parsed.data)
    : parsed.error.issues.map((issue) => `${issue.path[0]?.toString() ?? ''}: ${issue.message}`)
  if (!parsed.success || mistakes.length > 0)
    throw new Error(`Settings are wrong:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`)
  const { data } = parsed
  return {
    ...httpConfigOf(data),
    port: data.PORT,
    host: data.HOST,
    publicUrl: data.PUBLIC_URL,
    webConcurrency: data.WEB_CONCURRENCY,
    databaseUrl: data.DATABASE_URL,
    databasePooler: data.DATABASE_POOLER,
    directDatabaseUrl: data.DIRECT_DATABASE_URL,
    databaseReplicaUrls: data.DATABASE_REPLICA_URLS,
    dataDir: data.DATA_DIR,
    holdMinutes: data.HOLD_MINUTES,
    admissionHours: data.ADMISSION_HOURS,
    logLevel: data.LOG_LEVEL,
    sharedReadsMs: data.SHARED_READS_MS,
    rememberedEvents: data.REMEMBERED_EVENTS,
    paymentProvider: data.PAYMENT_PROVIDER,
    privateWebhooks: data.WEBHOOKS_TO_PRIVATE_ADDRESSES,
    stripe: stripeSettingsOf(data),
    shutdownSeconds: data.SHUTDOWN_SECONDS,
    drainSeconds: data.DRAIN_SECONDS ?? (data.NODE_ENV === 'production' ? 5 : 0),
    delivery: deliveryConfigOf(data, join(data.DATA_DIR, 'mail')),
  }
}
