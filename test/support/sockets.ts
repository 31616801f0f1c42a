import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Opens a TCP connection to the service without sending anything, from another loopback address if one is given. */
export async function openSocket(url: string, localAddress?: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect({ port: Number(port), host: hostname, localAddress }).on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Reads the next chunk from a connection. Throws if it is closed first. */
export async function readAnswer(socket: Socket): Promise<string> {
  const closed = once(socket, 'close').then(() => {
    throw new Error('closed without a response')
  })
  const [answer] = await Promise.race([once(socket, 'data'), closed])
  return String(answer)
}
