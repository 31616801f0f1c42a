import { isIP, type Socket } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'

// Some proxies forward a port with the address: 192.0.2.1:4711, [2001:db8::1]:4711.
const withoutPort = (address: string) => /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/.exec(address)

/** Client address for limits: the address that the outermost proxy trusted by TRUST_PROXY saw, else the
 *  address of the connection. An IPv6 address stands for its /64, the size of one customer's allocation.
 *  Forwarded text that is not an address is ignored: it could be of any length. */
export function clientAddress({ ip, socket }: { ip: string; socket: Pick<Socket, 'remoteAddress'> }): string {
  const [, six, four] = withoutPort(ip) ?? []
  const address = [six ?? four ?? ip, socket.remoteAddress ?? ''].find((candidate) => isIP(candidate) > 0)
  return address === undefined ? '' : normalizeIP(address)
}
