import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { deliveryConfigOf, deliverySettings, whatsAppSettings } from '../domain/delivery/settings.ts'
import { maxHoldMinutes, stripeEnvironment, stripeSettingsOf } from '../domain/payment/stripe/settings.ts'
import { retentionSettings } from '../domain/retention/settings.ts'
import { saleSettings } from '../domain/sale/settings.ts'
import {
  certificates,
  databaseSettings,
  databaseTlsOf,
  databaseTlsSettings,
  isKeyOf,
} from '../engine/config/database.ts'
import { httpSettings, rateLimit } from '../engine/config/http.ts'
import { type Environment, misspeltSettings, readSecretFiles } from '../engine/config/read-settings.ts'
import { type ConfigOf, trueOrFalse, wholeNumber } from '../engine/config/setting-types.ts'
import { hasTraces, telemetrySettings, tracingSettings } from '../engine/config/telemetry.ts'
import { problems } from '../engine/database/pool/failures.ts'

// Words for the content of a new database, which an import gives it.
problems.TABLES_OLDER = problems.TABLES_OLDER.replace('everything', 'the catalogue')

/** Settings that may also come from a file, as secrets of containers do:
 *  `STRIPE_SECRET_KEY_FILE=/run/secrets/stripe` instead of `STRIPE_SECRET_KEY`. */
export const secretSettings = [
  ...['DATABASE_URL', 'DIRECT_DATABASE_URL', 'DATABASE_REPLICA_URLS', ...certificates],
  ...['SMTP_URL', 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'WHATSAPP_TOKEN'],
] as const

// '' and '/' are the root; '/v1/' is '/v1'.
const basePath = z
  .string()
  .transform((path) => path.replace(/\/+$/, ''))
  .refine((path) => path === '' || /^(\/[\w.~-]+)+$/.test(path), 'must be a path such as /channels')

// Environment variables that the service uses as they are, under their names in camel case.
const plainSettings = z.object({
  ...databaseSettings.shape,
  ...saleSettings,
  ...telemetrySettings,
  /** Maximum age of a cached catalogue response in milliseconds; 0 disables the response cache. */
  SHARED_READS_MS: wholeNumber(0, 60_000).default(1000),
  /** Number of events whose rows a process caches by revision; 0 disables that cache. */
  REMEMBERED_EVENTS: wholeNumber(0, 100_000).default(2000),
  PAYMENT_PROVIDER: z.enum(['sandbox', 'stripe']).default('sandbox'),
  /** `off` serves requests alone, `only` runs the background jobs alone, `on` does both. */
  BACKGROUND: z.enum(['on', 'off', 'only']).default('on'),
  ...httpSettings,
  /** Requests per second of an address with a publishable key; null for no limit. */
  PUBLISHABLE_RATE_LIMIT: rateLimit(50),
  CHANNELS_BASE_PATH: basePath.default(''),
  INTEGRATIONS_BASE_PATH: basePath.default(''),
  ...retentionSettings,
  SHUTDOWN_SECONDS: wholeNumber(1, 600).default(10),
})

const environment = z.object({
  ...plainSettings.shape,
  ...stripeEnvironment,
  ...databaseTlsSettings.shape,
  ALLOW_SANDBOX_PAYMENTS: trueOrFalse,
  ALLOW_MAIL_TO_FILES: trueOrFalse,
  WEBHOOKS_TO_PRIVATE_ADDRESSES: trueOrFalse,
  NODE_ENV: z.string().default('development'),
  DRAIN_SECONDS: wholeNumber(0, 600).optional(),
  ...deliverySettings.shape,
  ...tracingSettings,
})

/** Names of all environment variables that the service reads, but for those of secrets in files. */
export const settingNames: readonly string[] = environment.keyof().options

type Settings = z.output<typeof environment>

const toCamelCase = (name: string): string =>
  name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Lists settings that contradict each other. */
function contradictionsIn(settings: Settings): string[] {
  const { DATABASE_URL: url, DATABASE_SSL: tls, DATABASE_SSL_CERT: cert, DATABASE_SSL_KEY: key } = settings
  const { STRIPE_SECRET_KEY: stripeKey, STRIPE_WEBHOOK_SECRET: webhookSecrets } = settings
  const isStripe = settings.PAYMENT_PROVIDER === 'stripe'
  const isRealSale = settings.NODE_ENV === 'production' && !settings.ALLOW_SANDBOX_PAYMENTS
  const isBackgroundOnly = settings.BACKGROUND === 'only'
  const usesWhatsApp = whatsAppSettings.some((name) => settings[name])
  const missing = whatsAppSettings.filter((name) => usesWhatsApp && !settings[name])
  const allOfWhatsApp = whatsAppSettings.join(', ')
  const named = certificates.filter((name) => settings[name])
  // The driver knows these modes without certificates alone.
  const usesNone = (...urls: (string | undefined)[]) =>
    named.length > 0 && urls.some((url) => url && /[?&]sslmode=(allow|prefer)\b/.test(url))
  const useNone = 'its sslmode uses no certificate; require, verify-ca and verify-full do'
  const isMade: Record<string, unknown> = {
    'MAIL_FROM: required with SMTP_URL': settings.SMTP_URL && !settings.MAIL_FROM,
    ...Object.fromEntries(missing.map((name) => [`${name}: WhatsApp needs all of ${allOfWhatsApp}`, true])),
    'PUBLIC_URL: WhatsApp fetches the tickets from there': usesWhatsApp && !settings.PUBLIC_URL,
    'STRIPE_SECRET_KEY: needs PAYMENT_PROVIDER=stripe': !isStripe && stripeKey,
    'STRIPE_WEBHOOK_SECRET: needs PAYMENT_PROVIDER=stripe': !isStripe && webhookSecrets.length > 0,
    'STRIPE_API_BASE: needs PAYMENT_PROVIDER=stripe': !isStripe && settings.STRIPE_API_BASE,
    'STRIPE_SECRET_KEY: PAYMENT_PROVIDER=stripe needs it': isStripe && !stripeKey,
    'STRIPE_WEBHOOK_SECRET: PAYMENT_PROVIDER=stripe needs it': isStripe && webhookSecrets.length === 0,
    [`HOLD_MINUTES: must be at most ${maxHoldMinutes} with PAYMENT_PROVIDER=stripe`]:
      isStripe && settings.HOLD_MINUTES > maxHoldMinutes,
    'STRIPE_SECRET_KEY: a test key takes no money; in production it needs ALLOW_SANDBOX_PAYMENTS=true':
      isStripe && isRealSale && /^.k_test_/.test(stripeKey ?? ''),
    // The embedded database belongs to one process.
    'BACKGROUND: the embedded database belongs to one process, which does both':
      !url && settings.BACKGROUND !== 'on',
    'WEB_CONCURRENCY: the embedded database belongs to one process; more than 1 needs DATABASE_URL':
      !url && settings.WEB_CONCURRENCY > 1,
    'DATABASE_POOLER: needs DATABASE_URL': !url && settings.DATABASE_POOLER !== 'none',
    'DIRECT_DATABASE_URL: needs DATABASE_URL': !url && settings.DIRECT_DATABASE_URL,
    'DATABASE_REPLICA_URLS: needs DATABASE_URL': !url && settings.DATABASE_REPLICA_URLS.length > 0,
    'DATABASE_SSL_KEY: required with DATABASE_SSL_CERT': cert && !key,
    'DATABASE_SSL_CERT: required with DATABASE_SSL_KEY': key && !cert,
    'DATABASE_SSL_KEY: is not the key of DATABASE_SSL_CERT': cert && key && !isKeyOf(cert, key),
    [`DATABASE_URL: ${useNone}`]: usesNone(url),
    [`DIRECT_DATABASE_URL: ${useNone}`]: usesNone(settings.DIRECT_DATABASE_URL),
    [`DATABASE_REPLICA_URLS: ${useNone}`]: usesNone(...settings.DATABASE_REPLICA_URLS),
    'DATABASE_SSL: needs DATABASE_URL': tls && !url,
    ...Object.fromEntries(named.map((name) => [`${name}: DATABASE_SSL is disable`, tls === 'disable'])),
    ...Object.fromEntries(named.map((name) => [`${name}: needs DATABASE_URL`, !url])),
    'METRICS_PORT: must differ from PORT': settings.METRICS_PORT === settings.PORT && settings.PORT !== 0,
    'PAYMENT_PROVIDER: sandbox takes no money; in production it needs ALLOW_SANDBOX_PAYMENTS=true':
      isRealSale && settings.PAYMENT_PROVIDER === 'sandbox',
    'TRUSTED_DOCUMENTS_ONLY: needs TRUSTED_DOCUMENTS':
      settings.TRUSTED_DOCUMENTS_ONLY && !settings.TRUSTED_DOCUMENTS,
    'SMTP_URL: without it no buyer gets a mail; in production that needs ALLOW_MAIL_TO_FILES=true':
      settings.NODE_ENV === 'production' && !settings.SMTP_URL && !settings.ALLOW_MAIL_TO_FILES,
    'WEB_CONCURRENCY: BACKGROUND=only is one process; start another one for more':
      isBackgroundOnly && settings.WEB_CONCURRENCY > 1,
    'PUBLIC_URL: BACKGROUND=only needs it for the links in mails': isBackgroundOnly && !settings.PUBLIC_URL,
  }
  return Object.keys(isMade).filter((mistake) => isMade[mistake])
}

/** Parses the settings from environment variables and the files that they name. Throws one error that names
 *  every mistake, but no value. */
export function parseConfig(env: Environment, readFile = (path: string) => readFileSync(path, 'utf8')) {
  // An empty variable counts as unset, as in shells and compose files.
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const files = readSecretFiles(nonEmpty, secretSettings, readFile)
  const parsed = environment.safeParse(files.env)
  const mistakes = [
    ...files.mistakes,
    ...(parsed.success
      ? contradictionsIn(parsed.data)
      : parsed.error.issues.map((issue) => `${issue.path[0]?.toString() ?? ''}: ${issue.message}`)),
  ]
  if (!parsed.success || mistakes.length > 0)
    throw new Error(`Settings are wrong:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`)
  const { data } = parsed
  const plain = plainSettings.keyof().options.map((name) => [toCamelCase(name), data[name]])
  return {
    ...(Object.fromEntries(plain) as ConfigOf<typeof plainSettings.shape>),
    /** True if webhooks may go to private addresses and over plain HTTP, as in tests and private networks. */
    privateWebhooks: data.WEBHOOKS_TO_PRIVATE_ADDRESSES,
    /** Credentials for Stripe; null with another provider. */
    stripe: stripeSettingsOf(data),
    /** TLS to the database; null if nothing is set, so that each URL decides for itself. */
    databaseTls: databaseTlsOf(data),
    /** Seconds for which the service still answers after a shutdown request, although it is not ready. */
    drainSeconds: data.DRAIN_SECONDS ?? (data.NODE_ENV === 'production' ? 5 : 0),
    /** True if spans are sent to an OpenTelemetry collector. */
    hasTraces: hasTraces(data),
    /** Channels by which buyers receive their tickets. */
    delivery: deliveryConfigOf(data, join(data.DATA_DIR, 'mail')),
    /** Sentences about variables that are probably settings misspelt; each starts with the name. */
    misspelt: misspeltSettings(nonEmpty, [...settingNames, ...secretSettings.map((name) => `${name}_FILE`)]),
  }
}

/** Settings of the service, as parsed from the environment. */
export type Config = ReturnType<typeof parseConfig>
