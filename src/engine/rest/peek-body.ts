import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'

// A larger body would fill the stream's buffer and stall the connection until it is read, which a refused one
// never is.
const maxBytes = 8_192

/** Returns the raw text of a body that arrived together with its headers; null if it is incomplete or long.
 *  Leaves the body in the stream, for the parser to read. */
export async function peekBody(message: IncomingMessage): Promise<string | null> {
  const length = Number(message.headers['content-length'] ?? 0)
  if (!(length > 0 && length <= maxBytes)) return null
  // Node emits the headers before it reads the rest of the same packet.
  await null
  if (message.readableLength === 0) {
    message.read(0)
    await setImmediate()
  }
  if (message.readableLength !== length) return null
  const body: Buffer = message.read(length)
  message.unshift(body)
  return body.toString()
}
