import { isIP, isIPv4 } from 'node:net'
import { z } from 'zod'

/** Which proxies are believed about the address of a client: so many of the last ones, those of some networks, or null
 *  for none. */
export type TrustProxy = { hops: number } | { networks: string[] } | null

const maxHops = 16

// One that lets in every address would believe everybody, and is a mistake.
function isNetwork(text: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  if (!isIP(address)) return false
  return bits === undefined || (Number(bits) >= 1 && Number(bits) <= (isIPv4(address) ? 32 : 128))
}

/** The variable as the environment has it: `1`, or `10.0.0.0/8, 2001:db8::/32`. */
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

/** The same as Fastify takes it. It believes no number of hops by itself, because it can't know that nobody reaches it
 *  past the proxies: the operator who sets one says so. */
export function trustProxyOf(
  trusted: TrustProxy,
): false | string[] | ((address: string, hop: number) => boolean) {
  if (trusted === null) return false
  return 'networks' in trusted ? trusted.networks : (_address, hop) => hop < trusted.hops
}
