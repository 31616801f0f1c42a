import { isIP, isIPv4 } from 'node:net'
import { z } from 'zod'

/** Proxies that are trusted to report a client's address: the last n hops, or some networks; null for
 *  none. */
type TrustProxy = { hops: number } | { networks: string[] } | null

const maxHops = 16

// Refuses /0, which would trust everybody and is certainly a mistake.
function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  if (!isIP(address)) return false
  return bits === undefined || (Number(bits) >= 1 && Number(bits) <= (isIPv4(address) ? 32 : 128))
}

/** Type of the variable TRUST_PROXY: `1`, or `10.0.0.0/8, 2001:db8::/32`. */
export const trustProxySetting = z
  .string()
  .transform((text, { addIssue }): TrustProxy => {
    if (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= maxHops) return { hops: Number(text) }
    const networks = text.split(',').map((network) => network.trim())
    if (networks.every(isNetwork)) return { networks }
    addIssue(
      `must be a number of proxies from 1 to ${maxHops}, or a comma-separated list of networks such as 10.0.0.0/8`,
    )
    return null
  })
  .default(null)

/** Converts the setting to Fastify's `trustProxy`. Fastify refuses a plain number of hops, because it can't
 *  know whether clients can bypass the proxies; an operator who sets a number vouches for that. */
export function trustProxyOf(
  trusted: TrustProxy,
): false | string[] | ((address: string, hop: number) => boolean) {
  if (trusted === null) return false
  return 'networks' in trusted ? trusted.networks : (_address, hop) => hop < trusted.hops
}
