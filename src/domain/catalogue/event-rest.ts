import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ResponseCache } from '../../cache/response-cache.ts'
import { catalogueContext, type Services } from '../../request/context.ts'
import { answerRead, authenticatedRead } from '../../rest/cached-read.ts'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { Refusal } from '../../shared/errors.ts'
import { eventById } from '../event/loaders.ts'
import { eventBody, toEventBody } from './event-body.ts'
import { eventExample } from './event-example.ts'
import { query, toTicketRateBodies } from './events-rest.ts'

const eventAnswer = z
  .object({ success: z.literal(true).describe('Always true for an event.'), data: eventBody })
  .meta({ id: 'EventResponse', description: 'The event.' })

/** Serves GET /events/{eventId}, `event` of GraphQL for clients of REST (DECISIONS 281). */
export const eventRoutes =
  (services: Services, responseCache: ResponseCache): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/events/:eventId',
      {
        preParsing: authenticatedRead(services, responseCache, 'GET /events/{eventId}'),
        schema: {
          operationId: 'readEvent',
          summary: 'Read one event',
          description:
            'Reads one event of an organization that has given the channel access, or of the organization of the integration, ended or not.',
          tags: ['Channels', 'Integrations'],
          security: [{ channelKey: [] }, { integrationKey: [] }, { integrationId: [], secret: [] }],
          params: z.object({ eventId: z.string().describe('Event identifier.') }),
          querystring: query.pick({ populate: true }),
          response: { 200: eventAnswer },
          refuses: ['ORIGIN_NOT_ALLOWED'],
          isConditional: true,
          example: {
            params: { eventId: exampleIds.eventId },
            query: { populate: '*' },
            answer: { success: true, data: eventExample },
          },
        },
      },
      (request, reply) =>
        answerRead(responseCache, request, reply, async () => {
          const ctx = catalogueContext(request.ctx)
          const event = await ctx.loaders.load(eventById, request.params.eventId)
          if (!event)
            throw new Refusal({ code: 'NOT_FOUND', message: 'There is no such event.', path: ['eventId'] })
          const [rates] = request.query.populate ? await toTicketRateBodies([event], ctx) : []
          return { body: { success: true, data: toEventBody(event, rates) }, link: '' }
        }),
    )
  }
