import { isIPv6 } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errorCode } from '../base/errors.ts'
import type { HttpConfig } from '../config/http.ts'

/** Writes an address or a name as the host of a URL: IPv6 in brackets (RFC 3986). */
export const hostInUrl = (host: string): string => (isIPv6(host) ? `[${host}]` : host)

/** Returns a getter of the service's public base URL: PUBLIC_URL if it is set, else the address that it
 *  listens on. */
export function publicUrlOf(app: FastifyInstance, { publicUrl, host, port }: HttpConfig): () => string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : hostInUrl(host)
  let known = publicUrl
  return () => {
    if (known !== undefined) return known
    const address = app.server.address()
    if (!address || typeof address !== 'object') return `http://${name}:${port}`
    // Cached, because many answers need it.
    known = `http://${name}:${address.port}`
    return known
  }
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)(:\d+)?$/i
const ofProxies = /^(via|forwarded|x-forwarded-.+|x-real-ip)$/

/** Creates the check whether what a request is answered stays on this machine: the service is there for this machine
 *  alone, and was asked by its name. A page of a name that its owner lets point to loopback asks by that name, which
 *  proves nothing of who sees the answer; neither does a proxy. */
export function localRequests({ publicUrl, host, trustProxy }: HttpConfig) {
  const isLocal =
    trustProxy === false &&
    [host, new URL(publicUrl ?? 'http://localhost').host].every((name) => loopback.test(name))
  return ({ headers }: FastifyRequest) =>
    isLocal && loopback.test(headers.host ?? '') && !Object.keys(headers).some((name) => ofProxies.test(name))
}

/** Replaces an error in listening on a port by one that says which setting to change; returns any other error
 *  as it is. */
export function explainListening(error: unknown, at: { host: string; port: number; setting: string }) {
  const { host, port, setting } = at
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is taken: stop the process that listens there, or set ${setting} to another.`,
    EACCES: `Port ${port} requires privileges that this process lacks: set ${setting} to one above 1023.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: set HOST to one.`,
    ENOTFOUND: `${host} is not an address of this machine: set HOST to one.`,
  }
  const reason = reasons[errorCode(error) ?? '']
  return reason ? new Error(reason) : error
}
