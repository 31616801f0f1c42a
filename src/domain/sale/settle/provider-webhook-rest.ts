import type { FastifyInstance } from 'fastify'
import type { Services } from '../../../request/context.ts'
import type { RateLimits } from '../../../request/rate-limits.ts'
import { Refusal } from '../../../shared/errors.ts'
import { receiveEvent } from './receive-event.ts'

const unsigned = () =>
  new Refusal({ code: 'BAD_REQUEST', message: 'The signature is missing, wrong or too old.' })

/** `POST /webhooks/{provider}`: what the provider tells by itself, signed byte by byte. What is signed is answered with
 *  200 once its effect is committed; anything else makes the provider tell it again. It has no limit, because a provider
 *  that is turned away in a rush tells later; what is not signed counts for its address. */
export async function addProviderEvents(
  app: FastifyInstance,
  { db, provider }: Services,
  limits: RateLimits,
): Promise<void> {
  if (!provider.readEvent) return
  const read = provider.readEvent.bind(provider)
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    const options = { schema: { hide: true }, config: { rateLimit: false as const } }
    scope.post(`/webhooks/${provider.name}`, options, async (request) => {
      const { body, headers, log } = request
      const event = Buffer.isBuffer(body) ? read(body, headers) : null
      if (!event) {
        limits.countFailure(request)
        throw unsigned()
      }
      const received = await receiveEvent(db, provider.name, event)
      const { id, type } = event
      if (received === 'unknown') log.warn({ event: id, type }, 'a provider tells of what is not here')
      return { success: true, received }
    })
  })
}
