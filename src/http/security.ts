import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import helmet from 'helmet'
import { addPublicCors, exposedHeaders, maxAgeSeconds, type PublicCors } from './public-cors.ts'

/** Headers of a page whose address is a secret. */
export const secretAddress = { 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }

// Computed once, because they are the same for every response.
function securityHeaders(): OutgoingHttpHeaders {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet({ hsts: false })(response.req, response, () => {})
  return { ...response.getHeaders() }
}

/** Sends security headers with every response, and allows cross-origin requests from these origins with any
 *  credentials, and from those of `publicCors` with public ones. */
export async function addSecurity(app: FastifyInstance, corsOrigins: string[], publicCors: PublicCors) {
  const headers = securityHeaders()
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(headers)
    done()
  })
  addPublicCors(app, corsOrigins, publicCors)
  if (corsOrigins.length > 0)
    await app.register(cors, {
      origin: corsOrigins,
      // If strict, the plugin would answer OPTIONS without preflight headers with an error body of its own.
      strictPreflight: false,
      exposedHeaders,
      maxAge: maxAgeSeconds,
    })
}
