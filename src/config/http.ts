import { z } from 'zod'
import { commaSeparated, wholeNumber } from './setting-types.ts'
import { type TrustProxy, trustProxySetting } from './trust-proxy.ts'

// '' and '/' are the root; '/v1/' is '/v1'.
const basePath = z
  .string()
  .transform((path) => path.replace(/\/+$/, ''))
  .refine((path) => path === '' || /^(\/[\w.~-]+)+$/.test(path), 'must be a path such as /channels')

/** Environment variables for HTTP. */
export const httpSettings = {
  TRUST_PROXY: trustProxySetting,
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(5000),
  RATE_LIMIT: z
    .union([z.literal('off'), wholeNumber(1, 1_000_000)], 'must be a whole number or off')
    .default(1000),
  CORS_ORIGINS: commaSeparated
    .pipe(
      z.array(
        z
          .url('must be a comma-separated list of origins')
          .refine(
            (origin) => URL.canParse(origin) && new URL(origin).origin === origin,
            'must be origins such as https://shop.example',
          ),
      ),
    )
    .default([]),
  CHANNELS_BASE_PATH: basePath.default(''),
  INTEGRATIONS_BASE_PATH: basePath.default(''),
}

/** HTTP settings. */
export type HttpConfig = {
  /** Proxies that are trusted to report a client's address. */
  trustProxy: TrustProxy
  /** Maximum of open connections per process; further ones are dropped. */
  maxConnections: number
  /** Requests per second and key; null for no limit. */
  rateLimit: number | null
  corsOrigins: string[]
  channelsBasePath: string
  integrationsBasePath: string
}

/** Builds the HTTP configuration. */
export const httpConfigOf = (settings: z.output<z.ZodObject<typeof httpSettings>>): HttpConfig => ({
  trustProxy: settings.TRUST_PROXY,
  maxConnections: settings.MAX_CONNECTIONS,
  rateLimit: settings.RATE_LIMIT === 'off' ? null : settings.RATE_LIMIT,
  corsOrigins: settings.CORS_ORIGINS,
  channelsBasePath: settings.CHANNELS_BASE_PATH,
  integrationsBasePath: settings.INTEGRATIONS_BASE_PATH,
})
