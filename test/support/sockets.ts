import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A connection to the service, on which nothing has been sent. */
export async function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** What comes next on a connection, an error where it is closed before that. */
export async function readAnswer(socket: Socket): Promise<string> {
  const closed = once(socket, 'close').then(() => {
    throw new Error('closed without an answer')
  })
  const [answer] = await Promise.race([once(socket, 'data'), closed])
  return String(answer)
}
