import { isIP } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyRequest } from 'fastify'

// Some proxies forward a port with the address: 192.0.2.1:4711, [2001:db8::1]:4711.
const withoutPort = (address: string) => /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/.exec(address)

/** The address that a request is counted under: of the proxies that TRUST_PROXY believes, the one that the last of them
 *  saw, else the connection's own. An IPv6 address stands for its /64, which is what one customer is given. What a
 *  proxy forwards and is no address is not believed: it may be of any length. */
export function clientAddress({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string {
  const [, six, four] = withoutPort(ip) ?? []
  const address = [six ?? four ?? ip, socket.remoteAddress ?? ''].find((given) => isIP(given) > 0)
  return address === undefined ? '' : normalizeIP(address)
}
