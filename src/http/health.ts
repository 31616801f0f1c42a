import type { FastifyInstance } from 'fastify'

/** Why requests should not be sent here; null where they should. */
export type WhyUnready = () => Promise<string | null>

/** `/health`: the process runs. `/ready`: it is not about to end, and its database answers, takes writes and has its
 *  tables up to date, so send requests here. */
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
