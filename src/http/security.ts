import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'

// Time that browsers keep the answer to a preflight, as long as Chromium allows.
const preflightSeconds = 7_200

// Computed once, because they are the same for every response.
function securityHeaders(): OutgoingHttpHeaders {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet({ hsts: false })(response.req, response, () => {})
  return { ...response.getHeaders() }
}

/** Sends security headers with every response, and allows cross-origin requests from these origins. */
export async function addSecurity(app: FastifyInstance, corsOrigins: string[]): Promise<void> {
  const headers = securityHeaders()
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  if (corsOrigins.length > 0)
    await app.register(cors, {
      origin: corsOrigins,
      // If strict, the plugin would answer OPTIONS without preflight headers with an error body of its own.
      strictPreflight: false,
      maxAge: preflightSeconds,
      exposedHeaders: ['etag', 'link', 'retry-after', 'idempotent-replayed', 'x-request-id'],
    })
}
