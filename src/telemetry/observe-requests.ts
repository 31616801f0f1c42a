import type { FastifyInstance } from 'fastify'
import { durationOf } from '../http/request-log.ts'
import type { Metrics } from './metrics.ts'

/** Counts each request once it is answered. */
export function observeRequests(app: FastifyInstance, { onAnswered }: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, operation, logged } = request
    const { url: route } = routeOptions
    onAnswered({
      // Any method is answered at a path that does not exist.
      ...(route === undefined ? { method: 'any', route: 'unknown' } : { method, route }),
      operation: operation ?? '',
      status: reply.statusCode,
      code: logged?.codes?.[0] ?? 'NONE',
      seconds: durationOf(request, reply) / 1000,
      isStream: operation?.startsWith('subscription ') ?? false,
    })
    done()
  })
}
