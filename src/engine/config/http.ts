import { isIP, isIPv4 } from 'node:net'
import { z } from 'zod'
import {
  baseUrl,
  type ConfigOf,
  commaSeparated,
  countOrOff,
  isOrigin,
  path,
  trueOrFalse,
  wholeNumber,
} from './setting-types.ts'

const maxHops = 16

// Refuses /0, which would trust everybody and is certainly a mistake.
function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  if (!isIP(address)) return false
  return bits === undefined || (Number(bits) >= 1 && Number(bits) <= (isIPv4(address) ? 32 : 128))
}

// Proxies that are trusted to report a client's address: `1`, or `10.0.0.0/8, 2001:db8::/32`. In Fastify's words a function
// for those at the last hops, a list of networks, or false for none. Fastify refuses a plain number of hops, because it
// can't know whether clients can bypass the proxies; an operator who sets a number vouches for that.
const trustProxy = z
  .string()
  .transform((text, { addIssue }) => {
    const hops = /^\d+$/.test(text) ? Number(text) : 0
    if (hops >= 1 && hops <= maxHops) return (_address: string, hop: number) => hop < hops
    const networks = text.split(',').map((network) => network.trim())
    if (networks.every(isNetwork)) return networks
    addIssue(
      `must be a number of proxies from 1 to ${maxHops}, or a comma-separated list of networks such as 10.0.0.0/8`,
    )
    return false
  })
  .default(false)

/** A number of requests or the like, or `off`. */
export const rateLimit = (byDefault: number) =>
  countOrOff(1_000_000, byDefault, 'must be a whole number or off')

/** Environment variables for HTTP, used under their names in camel case. */
export const httpSettings = {
  PORT: wholeNumber(0, 65_535).default(4000),
  HOST: z.string().min(1).default('127.0.0.1'),
  /** Base URL at which people and clients reach the service; if unset, derived from the address that it
   *  listens on. */
  PUBLIC_URL: baseUrl.optional(),
  /** Number of processes that serve the port. */
  WEB_CONCURRENCY: wholeNumber(1, 128).default(1),
  /** Manifest of documents that clients may name by an identifier. */
  TRUSTED_DOCUMENTS: path.optional(),
  /** True to execute no other document. */
  TRUSTED_DOCUMENTS_ONLY: trueOrFalse,
  /** Proxies that are trusted to report a client's address. */
  TRUST_PROXY: trustProxy,
  /** Maximum of open connections per process. */
  MAX_CONNECTIONS: wholeNumber(1, 1_000_000).default(5000),
  /** Maximum of those per address, unless they come through a proxy. */
  CONNECTIONS_PER_ADDRESS: wholeNumber(1, 1_000_000).default(1000),
  /** Requests per second and key; null for no limit. */
  RATE_LIMIT: rateLimit(1000),
  /** Maximum of open event streams per set of credentials, in each process. */
  STREAMS_PER_KEY: wholeNumber(1, 1_000_000).default(10_000),
  /** Maximum of those that are sent every change or check-in, per set of credentials, in each process. */
  FEED_STREAMS_PER_KEY: wholeNumber(1, 1_000_000).default(50),
  /** Maximum of open event streams per address, in each process. */
  STREAMS_PER_ADDRESS: wholeNumber(1, 1_000_000).default(100),
  CORS_ORIGINS: commaSeparated
    .pipe(z.array(z.string().refine(isOrigin, 'must be origins such as https://shop.example')))
    .default([]),
}

/** Settings of HTTP. */
export type HttpConfig = ConfigOf<typeof httpSettings>
