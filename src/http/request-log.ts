import type { FastifyInstance } from 'fastify'

/** Logs one line per request, with the route instead of the URL: a URL may contain a payment page's token or
 *  search text. */
export function logRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    done()
  })
  app.addHook('onResponse', ({ method, routeOptions, log }, reply, done) => {
    const route = routeOptions.url ?? 'unknown'
    log.info({ method, route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'request')
    done()
  })
}
