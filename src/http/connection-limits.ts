import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { clientAddress } from './client-address.ts'

/** Timeouts for receiving a request. Both run from the first byte, or from the connection if nothing is sent.
 *  `checkMs` is the interval at which they are enforced. */
export type RequestTimeouts = { headersMs: number; requestMs: number; checkMs: number }

/** A client that sends too slowly is disconnected within 35 s, including a second to read the error. Node's
 *  own check interval is 30 s. */
export const defaultTimeouts: RequestTimeouts = { headersMs: 15_000, requestMs: 30_000, checkMs: 2_000 }

/** Most connections that are open at once: of the process, and of each address. */
type ConnectionLimits = { total: number; perAddress: number }

/** Connections of one address, or of all. The longest idle is the first: it has no request that waits for an answer. */
class Pool {
  open = 0
  readonly idle = new Set<Socket>()
}

/** Closes the longest idle connection for a new one where an address, or the process, has as many as it may; drops the
 *  new one where none is idle. An IPv6 address stands for its /64. `server.maxConnections` does not work in a
 *  cluster: a worker returns excess connections to the primary, which hands them out again in a busy loop until a
 *  worker has room. */
export function limitConnections(app: FastifyInstance, { total, perAddress }: ConnectionLimits): void {
  const all = new Pool()
  const byAddress = new Map<string, Pool>()
  const known = new Map<Socket, { own: Pool; address: string; unanswered: number }>()

  function forget(socket: Socket): void {
    const { own, address } = known.get(socket) ?? {}
    if (!own || !known.delete(socket)) return
    for (const pool of [own, all]) {
      pool.open--
      pool.idle.delete(socket)
    }
    if (own.open === 0 && address !== undefined) byAddress.delete(address)
  }

  function hasRoom(pool: Pool, limit: number): boolean {
    if (pool.open < limit) return true
    const [longest] = pool.idle
    if (!longest) return false
    forget(longest)
    longest.destroy()
    return true
  }

  function count(socket: Socket, change: 1 | -1): void {
    const found = known.get(socket)
    if (!found) return
    found.unanswered += change
    for (const { idle } of [found.own, all]) {
      idle.delete(socket)
      if (found.unanswered === 0) idle.add(socket)
    }
  }

  app.server.on('connection', (socket: Socket) => {
    const address = clientAddress({ ip: socket.remoteAddress ?? '', socket })
    const own = byAddress.get(address) ?? new Pool()
    if (!hasRoom(own, perAddress) || !hasRoom(all, total)) return void socket.destroy()
    byAddress.set(address, own)
    known.set(socket, { own, address, unanswered: 0 })
    for (const pool of [own, all]) {
      pool.open++
      pool.idle.add(socket)
    }
    socket.once('close', () => forget(socket))
  })
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    count(raw.socket, 1)
    done()
  })
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    count(raw.socket, -1)
    done()
  })
}
