import { z } from 'zod'
import { commaSeparated, wholeNumber } from './setting-types.ts'
import { type TrustProxy, trustProxySetting } from './trust-proxy.ts'

// '' and '/' are the root; '/v1/' is '/v1'.
const basePath = z
  .string()
  .transform((path) => path.replace(/\/+$/, ''))
  .refine((path) => path === '' || /^(\/[\w.~-]+)+$/.test(path), 'must be a path such as /channels')

/** The variables of the environment that are about HTTP. */
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

/** How the service is spoken to. */
export type HttpConfig = {
  /** Which proxies are believed about the address of a client. */
  trustProxy: TrustProxy
  /** Connections that each process has open at once; what is beyond is dropped. */
  maxConnections: number
  /** Requests a second and key; null is no limit. */
  rateLimit: number | null
  corsOrigins: string[]
  channelsBasePath: string
  integrationsBasePath: string
}

/** The settings as the service goes by them. */
export const httpConfigOf = (settings: z.output<z.ZodObject<typeof httpSettings>>): HttpConfig => ({
  trustProxy: settings.TRUST_PROXY,
  maxConnections: settings.MAX_CONNECTIONS,
  rateLimit: settings.RATE_LIMIT === 'off' ? null : settings.RATE_LIMIT,
  corsOrigins: settings.CORS_ORIGINS,
  channelsBasePath: settings.CHANNELS_BASE_PATH,
  integrationsBasePath: settings.INTEGRATIONS_BASE_PATH,
})
