import type { FastifyInstance } from 'fastify'
import type { RateLimits } from '../../../engine/request/rate-limits.ts'
import type { Services } from '../../caller/context.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { applyProviderEvent } from './apply-provider-event.ts'

/** Serves `POST /webhooks/{provider}`, whose signature covers the raw body. Answers 200 once an event is
 *  committed; any other status makes the provider retry. Signed events have no rate limit, because a refused
 *  event would only come back later; unsigned requests count as failures of their address. */
export async function addProviderWebhook(app: FastifyInstance, services: Services, limits: RateLimits) {
  const { db, provider } = services
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
        throw refusal('BAD_REQUEST', 'The signature is missing, wrong or too old.')
      }
      const received = await applyProviderEvent(db, provider.name, event)
      const { id, type } = event
      if (received === 'unknown')
        log.warn({ event: id, type }, 'provider event is about an unknown payment or refund')
      return { success: true, received }
    })
  })
}
