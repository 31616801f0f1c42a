import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'

/** Returns a getter of the service's public base URL: PUBLIC_URL if it is set, else the address that it
 *  listens on. */
export function publicUrlOf(app: FastifyInstance, { publicUrl, host, port }: Config): () => string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  let known = publicUrl
  return () => {
    if (known !== undefined) return known
    const address = app.server.address()
    if (!address || typeof address !== 'object') return `http://${name}:${port}`
    // Cached, because every checkout needs it.
    known = `http://${name}:${address.port}`
    return known
  }
}
