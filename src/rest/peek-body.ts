import type { IncomingMessage } from 'node:http'
import { setImmediate } from 'node:timers/promises'

// A body that fills the stream's buffer stops the connection until it is read, which one that is refused never is.
const longest = 8_192

/** The text of a body that came together with its headers, as it was sent; null where more is to come, or where it is
 *  long. It is left where it is, to be read and judged by whoever does. */
export async function peekBody(message: IncomingMessage): Promise<string | null> {
  const length = Number(message.headers['content-length'] ?? 0)
  if (!(length > 0 && length <= longest)) return null
  // Headers are told of before the rest of what came with them is read.
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
