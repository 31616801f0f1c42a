import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'

/** Headers of a page whose address is a secret. */
export const secretAddress = { 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }

/** Caching of every response that doesn't allow more itself (decision 220). */
export const noStore = 'private, no-store'

// Computed once, because they are the same for every response.
function usualHeaders(): OutgoingHttpHeaders {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet({ hsts: false })(response.req, response, () => {})
  return { ...response.getHeaders(), 'cache-control': noStore }
}

/** Sends security headers with every response, and keeps it from being stored unless it allows that itself. */
export function addSecurity(app: FastifyInstance): void {
  const headers = usualHeaders()
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
}
