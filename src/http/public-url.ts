import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/config.ts'

/** The address that clients and buyers reach the service at: the setting, else the one that is listened on, as long as
 *  nobody says what it looks like from outside. */
export function publicUrlOf(app: FastifyInstance, { publicUrl, host, port }: Config): () => string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  let known = publicUrl
  return () => {
    if (known !== undefined) return known
    const address = app.server.address()
    if (!address || typeof address !== 'object') return `http://${name}:${port}`
    // The system is asked once: each checkout tells it.
    known = `http://${name}:${address.port}`
    return known
  }
}
