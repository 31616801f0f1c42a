import type { FastifyInstance } from 'fastify'

/** Resolves to the reason why a load balancer should send no requests here; null if it should. */
export type WhyUnready = () => Promise<string | null>

/** Adds `/health` (the process runs) and `/ready` (it is not shutting down, and its database answers, accepts
 *  writes and is fully migrated). */
export function addHealth(app: FastifyInstance, whyUnready: WhyUnready): void {
  const options = {
    schema: { hide: true },
    config: { rateLimit: false as const },
    logLevel: 'silent' as const,
  }
  app.get('/health', options, async () => ({ status: 'ok' }))
  app.get('/ready', options, async (_request, reply) => {
    const reason = await whyUnready()
    return reply.code(reason ? 503 : 200).send(reason ? { status: 'not ready', reason } : { status: 'ready' })
  })
}
