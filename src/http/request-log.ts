import type { FastifyInstance } from 'fastify'

/** Logs one line a request: the route and not the address, which may hold a payment page's token or what is searched
 *  for. */
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
