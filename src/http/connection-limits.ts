import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Timeouts for receiving a request. Both run from the first byte, or from the connection if nothing is sent.
 *  `checkMs` is the interval at which they are enforced. */
export type RequestTimeouts = { headersMs: number; requestMs: number; checkMs: number }

/** A client that sends too slowly is disconnected within 35 s, including a second to read the error. Node's
 *  own check interval is 30 s. */
export const defaultTimeouts: RequestTimeouts = { headersMs: 15_000, requestMs: 30_000, checkMs: 2_000 }

/** Drops connections beyond the maximum of this process. `server.maxConnections` does not work in a cluster:
 *  a worker returns excess connections to the primary, which hands them out again in a busy loop until a
 *  worker has room. */
export function limitConnections(app: FastifyInstance, maxConnections: number): void {
  let open = 0
  app.server.on('connection', (socket: Socket) => {
    if (open >= maxConnections) return void socket.destroy()
    open++
    socket.once('close', () => open--)
  })
}
