import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** How the way to the database is: as ever; nothing gets through, and nobody is told; new connections are closed at once;
 *  nobody listens at all. */
export type ProxyMode = 'open' | 'silent' | 'closed'

/** A way to the database that a test can close, between the service and PostgreSQL. */
export type DatabaseProxy = {
  /** The address of the same database through here. */
  url: string
  /** From now on, for what is connected and what will be. */
  setMode(way: ProxyMode): void
  /** Resets every connection that there is. */
  reset(): void
  /** How many connections were made through here. */
  connectionCount(): number
  close(): Promise<void>
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const to = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  /** Those whose other side has ended while nothing got through: they hear of it once something does. */
  const unheard = new Set<Socket>()
  let way: ProxyMode = 'open'
  let made = 0
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  const link = (from: Socket, other: Socket) => {
    // A write that is dropped, and not one that waits: what comes back has lost what was said meanwhile, as on a line
    // that is cut.
    from.on('data', (chunk) => way === 'silent' || other.write(chunk))
    from.on('close', () => (way === 'silent' ? unheard.add(other) : other.destroy()))
  }
  const server = createServer((client) => {
    made++
    keep(client)
    if (way === 'closed') return void client.destroy()
    const upstream = keep(connect(Number(to.port), to.hostname))
    link(client, upstream)
    link(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('a server listens on a port')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${address.port}`
  const destroyAll = () => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  return {
    url: url.href,
    setMode(next) {
      way = next
      if (way === 'silent') return
      for (const socket of unheard) socket.destroy()
      unheard.clear()
    },
    reset: destroyAll,
    connectionCount: () => made,
    async close() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}
