import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

// A request follows its connection at once, so one that has not come by then is not on its way.
const unusedMs = 250

/** Ends connections when the application closes: each with the answer it waits for, and one that nothing ever came on
 *  soon after. Else a client that keeps a connection, used or in store, would keep the service from ending. Already
 *  while it leaves, which is before the port is closed, each answer ends its connection: who asks again asks on a new one,
 *  which a load balancer leads elsewhere. */
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
    // Node 20 takes them for busy ones (nodejs/node#63452). What came while the process was busy is read first.
    setTimeout(() => setImmediate(destroyUnused), unusedMs).unref()
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing || isLeaving()) reply.header('connection', 'close')
    done()
  })
}
