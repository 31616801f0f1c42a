import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Milliseconds that a connection may take: from its first byte, or from its beginning where none comes, until all
 *  headers are there; until the whole request is there; and between two looks for those that took longer. */
export type RequestTimeouts = { headersMs: number; requestMs: number; checkMs: number }

/** No connection that sends too slowly lasts longer than 35 s, in which a second is for reading that it was too slow.
 *  Node looks every 30 s by itself. */
export const defaultTimeouts: RequestTimeouts = { headersMs: 15_000, requestMs: 30_000, checkMs: 2_000 }

/** The same as Fastify takes it. */
export const timeoutOptions = ({ headersMs, requestMs, checkMs }: RequestTimeouts) => ({
  requestTimeout: requestMs,
  http: { headersTimeout: headersMs, connectionsCheckingInterval: checkMs },
})

/** Drops connections beyond so many that are open at once, in this process. Not by `server.maxConnections`: a worker of
 *  a cluster gives what is beyond that back to the primary, which hands it out again until one has room, at full speed. */
export function limitConnections(app: FastifyInstance, maxConnections: number): void {
  let open = 0
  app.server.on('connection', (socket: Socket) => {
    if (open >= maxConnections) return void socket.destroy()
    open++
    socket.once('close', () => open--)
  })
}
