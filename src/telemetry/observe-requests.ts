import type { FastifyInstance } from 'fastify'
import type { Metrics } from './metrics.ts'

/** Counts each request once it is answered. */
export function observeRequests(app: FastifyInstance, { onAnswered }: Metrics): void {
  app.addHook('onResponse', ({ method, routeOptions: { url: route }, operation, logged }, reply, done) => {
    onAnswered({
      // Any method is answered at a path that does not exist.
      ...(route === undefined ? { method: 'any', route: 'unknown' } : { method, route }),
      operation: operation ?? '',
      status: reply.statusCode,
      code: logged?.codes?.[0] ?? 'NONE',
      seconds: reply.elapsedTime / 1000,
      isStream: operation?.startsWith('subscription ') ?? false,
    })
    done()
  })
}
