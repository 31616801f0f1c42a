import type { FastifyInstance } from 'fastify'

/** `/health`: the process runs. `/ready`: the database answers and its tables are up to date, so send requests here. */
export function addHealth(app: FastifyInstance, ready: () => Promise<boolean>): void {
  const options = {
    schema: { hide: true },
    config: { rateLimit: false as const },
    logLevel: 'silent' as const,
  }
  app.get('/health', options, async () => ({ status: 'ok' }))
  app.get('/ready', options, async (_request, reply) => {
    const isReady = await ready()
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not ready' })
  })
}
