import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/** `open` forwards everything; `silent` drops all data without closing anything; `closed` closes new
 *  connections at once. */
export type ProxyMode = 'open' | 'silent' | 'closed'

/** A TCP proxy between the service and PostgreSQL that a test can make fail. */
export type DatabaseProxy = {
  /** Connection string of the database through the proxy. */
  url: string
  /** Applies to existing and to new connections. */
  setMode(way: ProxyMode): void
  /** Resets every open connection. */
  reset(): void
  /** Number of connections accepted so far. */
  connectionCount(): number
  /** Number of bytes that PostgreSQL has sent so far. */
  bytesRead(): number
  close(): Promise<void>
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const to = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  /** Sockets whose other side closed during `silent`. They are closed when data flows again. */
  const unheard = new Set<Socket>()
  let way: ProxyMode = 'open'
  let made = 0
  let read = 0
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  const link = (from: Socket, other: Socket) => {
    // Data is dropped rather than delayed, as on a line that is cut.
    from.on('data', (chunk) => way === 'silent' || other.write(chunk))
    from.on('close', () => (way === 'silent' ? unheard.add(other) : other.destroy()))
  }
  const server = createServer((client) => {
    made++
    keep(client)
    if (way === 'closed') return void client.destroy()
    const upstream = keep(connect(Number(to.port), to.hostname))
    upstream.on('data', (chunk) => {
      read += chunk.length
    })
    link(client, upstream)
    link(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the proxy has no port')
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
    bytesRead: () => read,
    async close() {
      destroyAll()
      server.close()
      await once(server, 'close')
    },
  }
}
