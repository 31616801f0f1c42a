import { isIP, type Socket } from 'node:net'
import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance } from 'fastify'

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

/** Timeouts for receiving a request. Both run from the first byte, or from the connection if nothing is sent.
 *  `checkMs` is the interval at which they are enforced. */
export type RequestTimeouts = { headersMs: number; requestMs: number; checkMs: number }

/** A client that sends too slowly is disconnected within 35 s, including a second to read the error. Node's
 *  own check interval is 30 s. */
export const defaultTimeouts: RequestTimeouts = { headersMs: 15_000, requestMs: 30_000, checkMs: 2_000 }

// A request follows its connection at once: if none has arrived by then, none is on its way.
const unusedMs = 250

/** Most connections that are open at once, of the process and of each address, and whether the process is leaving. */
type Options = { total: number; perAddress: number; isLeaving(): boolean }

/** Closes the longest idle connection for a new one where an address, or the process, has as many as it may; drops the
 *  new one where none is idle: without a request that waits for its answer. An IPv6 address stands for its /64.
 *  `server.maxConnections` does not work in a cluster: a worker returns excess connections to the primary, which
 *  hands them out again in a busy loop until a worker has room.
 *  Closes connections when the application closes: busy ones with their response, unused ones shortly after.
 *  Otherwise an idle client connection would keep the service from exiting. While the process is leaving, before the
 *  port closes, every response already closes its connection, so that a load balancer sends the client's next request
 *  elsewhere. */
export function manageConnections(app: FastifyInstance, { total, perAddress, isLeaving }: Options): void {
  // In the order of their last requests and answers.
  const open = new Map<Socket, { address: string; unanswered: number }>()
  const counts = new Map<string, number>()
  let closing = false

  function forget(socket: Socket): void {
    const { address } = open.get(socket) ?? {}
    if (address === undefined) return
    open.delete(socket)
    const left = (counts.get(address) ?? 0) - 1
    if (left > 0) counts.set(address, left)
    else counts.delete(address)
  }

  function closeIdle(of?: string): boolean {
    for (const [socket, { address, unanswered }] of open) {
      if (unanswered > 0 || (of !== undefined && address !== of)) continue
      forget(socket)
      socket.destroy()
      return true
    }
    return false
  }

  function count({ socket }: { socket: Socket }, change: 1 | -1): void {
    const found = open.get(socket)
    if (!found) return
    found.unanswered += change
    open.delete(socket)
    open.set(socket, found)
  }

  app.server.on('connection', (socket: Socket) => {
    const address = clientAddress({ ip: socket.remoteAddress ?? '', socket })
    const isRefused =
      ((counts.get(address) ?? 0) >= perAddress && !closeIdle(address)) ||
      (open.size >= total && !closeIdle())
    if (isRefused) return void socket.destroy()
    open.set(socket, { address, unanswered: 0 })
    counts.set(address, (counts.get(address) ?? 0) + 1)
    socket.once('close', () => forget(socket))
  })
  app.server.on('request', (request, response) => {
    count(request, 1)
    response.once('close', () => {
      count(request, -1)
      // A response that began before says nothing of it, and its connection would be kept for the next request.
      if (closing) request.socket.end()
    })
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || isLeaving()) reply.header('connection', 'close')
    done()
  })
  app.addHook('preClose', async () => {
    closing = true
    const destroyUnused = () => {
      for (const socket of open.keys()) if (socket.bytesRead === 0) socket.destroy()
    }
    // Node 20 considers unused connections busy (nodejs/node#63452). `setImmediate` reads pending input
    // first.
    setTimeout(() => setImmediate(destroyUnused), unusedMs).unref()
  })
}
