import { z } from 'zod'
import { commaSeparated, wholeNumber } from './setting-types.ts'
import { streamSettings } from './streams.ts'
import { trustProxySetting } from './trust-proxy.ts'

// '' and '/' are the root; '/v1/' is '/v1'.
const basePath = z
  .string()
  .transform((path) => path.replace(/\/+$/, ''))
  .refine((path) => path === '' || /^(\/[\w.~-]+)+$/.test(path), 'must be a path such as /channels')

const rateLimit = (byDefault: number) =>
  z
    .union([z.literal('off'), wholeNumber(1, 1_000_000)], 'must be a whole number or off')
    .default(byDefault)
    .transform((limit) => (limit === 'off' ? null : limit))

/** Environment variables for HTTP, used under their names in camel case. */
export const httpSettings = {
  /** Proxies that are trusted to report a client's address. */
  TRUST_PROXY: trustProxySetting,
  /** Maximum of open connections per process. */
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(5000),
  /** Maximum of those per address, unless they come through a proxy. */
  CONNECTIONS_PER_ADDRESS: wholeNumber(1, 1_000_000).default(1000),
  /** Requests per second and key; null for no limit. */
  RATE_LIMIT: rateLimit(1000),
  /** Requests per second of an address with a publishable key; null for no limit. */
  PUBLISHABLE_RATE_LIMIT: rateLimit(50),
  /** Unpaid places that an address may hold with the publishable keys of a channel; null for no limit. */
  PUBLISHABLE_HELD_PLACES: rateLimit(100),
  ...streamSettings,
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
