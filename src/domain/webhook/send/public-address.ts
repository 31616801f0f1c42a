import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// What is given out to the world. The rest of IPv6 is for networks of one's own, or leads to IPv4 by another name.
const global6 = ipaddr.parseCIDR('2000::/3')

/** Whether an IP address is one of the public internet's: not private, loopback, link-local, shared, multicast or
 *  reserved, nor an IPv4 address inside an IPv6 one, which may lead to any of these. */
export function isPublicAddress(address: string): boolean {
  if (!isIP(address)) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(global6))
}

/** The IP address that stands in a URL in place of a name; null where there is a name. */
export function literalAddress({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? host : null
}
