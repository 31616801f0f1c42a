import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

// Globally assigned IPv6 addresses. The rest is for private networks, or maps to IPv4.
const global6 = ipaddr.parseCIDR('2000::/3')

/** Reports whether an IP address belongs to the public internet: not private, loopback, link-local, shared,
 *  multicast or reserved, nor an IPv4 address mapped into IPv6, which may be any of these. */
export function isPublicAddress(address: string): boolean {
  if (!isIP(address)) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(global6))
}

/** Returns the host of a URL if it is an IP address; null if it is a name. */
export function literalAddress({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) ? host : null
}
