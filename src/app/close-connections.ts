import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

// A request follows its connection at once: if none has arrived by then, none is on its way.
const unusedMs = 250

/** Closes connections when the application closes: busy ones with their response, unused ones shortly after.
 *  Otherwise an idle client connection would keep the service from exiting. While the process is leaving,
 *  before the port closes, every response already closes its connection, so that a load balancer sends the
 *  client's next request elsewhere. */
export function closeConnectionsOnShutdown(app: FastifyInstance, isLeaving: () => boolean): void {
  const connections = new Set<Socket>()
  let closing = false
  const destroyUnused = () => {
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }
  app.server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  app.addHook('preClose', async () => {
    closing = true
    // Node 20 considers unused connections busy (nodejs/node#63452). `setImmediate` reads pending input
    // first.
    setTimeout(() => setImmediate(destroyUnused), unusedMs).unref()
  })
  // A response that began before says nothing of it, and its connection would be kept for the next request.
  app.addHook('onResponse', ({ raw: { socket } }, _reply, done) => {
    if (closing && connections.has(socket)) socket.end()
    done()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || isLeaving()) reply.header('connection', 'close')
    done()
  })
}
