import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'

// They are the same for every answer, so they are made once.
function securityHeaders(): OutgoingHttpHeaders {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet({ hsts: false })(response.req, response, () => {})
  return { ...response.getHeaders() }
}

/** Sends security headers with every answer, and lets browsers call from these origins. */
export async function addSecurity(app: FastifyInstance, corsOrigins: string[]): Promise<void> {
  const headers = securityHeaders()
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  if (corsOrigins.length > 0)
    await app.register(cors, {
      origin: corsOrigins,
      // A request that is no preflight would be answered in a shape of its own.
      strictPreflight: false,
      exposedHeaders: ['etag', 'link', 'retry-after', 'idempotent-replayed', 'x-request-id'],
    })
}
