import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ResponseCache } from '../../cache/response-cache.ts'
import { createSerializer } from '../../json/zod-serializer.ts'
import { type Context, catalogueContext, requireChannel, type Services } from '../../request/context.ts'
import { answerRead, authenticatedRead } from '../../rest/cached-read.ts'
import { errorBody } from '../../rest/error-body.ts'
import { Refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { type EventFilter, searchEvents } from '../event/search-events.ts'
import type { Event } from '../event/table.ts'
import { type TicketRateBody, toTicketRateBody } from '../ticket-rate/body.ts'
import {
  pricesByTicketRateId,
  questionsByTicketRateId,
  supplementsByTicketRateId,
  ticketRatesByEventId,
} from '../ticket-rate/loaders.ts'
import { eventBody, toEventBody } from './event-body.ts'

const number = scalars.fromQuery

const query = z.strictObject({
  organization_id: scalars.identifier.optional().meta({ description: 'Only of this organization.' }),
  start_date: scalars.moment.optional().meta({ description: 'Only events that start at or after it.' }),
  end_date: scalars.moment.optional().meta({ description: 'Only events that end at or before it.' }),
  populate: z
    .string()
    .transform((list) => list.split(',').map((option) => option.trim()))
    .pipe(z.array(z.enum(['*', 'ticket-rates'], 'must be * or ticket-rates')))
    .optional()
    .meta({ description: 'Comma-separated: `*` (all) or `ticket-rates`.' }),
  location_id: scalars.identifier.optional().meta({ description: 'Only at this location.' }),
  search: scalars.search.optional().meta({
    description: 'Each word must begin a word of the name; case and accents do not count.',
  }),
  lat: number(scalars.latitude).optional().meta({ description: 'Latitude of the radius centre.' }),
  lng: number(scalars.longitude).optional().meta({ description: 'Longitude of the radius centre.' }),
  radius: number(scalars.radius)
    .optional()
    .meta({ description: 'Kilometres, at most 500; 5 where lat and lng are given.' }),
  limit: number(scalars.pageSize).default(50).meta({ description: 'How many, 1 to 100.' }),
  offset: number(scalars.offset).default(0).meta({
    description: 'How many to skip, at most 10000: narrow a longer list down by its dates.',
  }),
})

type Query = z.output<typeof query>

const page = z
  .object({ success: z.literal(true), data: z.array(eventBody) })
  .meta({ description: 'A page of events; empty past the end.' })

const pageBytes = createSerializer(page)

function nearOf({ lat, lng, radius }: Query): EventFilter['near'] {
  if (lat !== undefined && lng !== undefined) return { lat, lng, radius: radius ?? 5 }
  if (lat === undefined && lng === undefined && radius === undefined) return null
  const missing = lat === undefined ? 'lat' : 'lng'
  throw new Refusal({
    code: 'REQUIRED',
    message: 'lat and lng go together, and radius needs both.',
    path: [missing],
  })
}

const filterOf = (query: Query): EventFilter => ({
  organizationId: query.organization_id,
  locationId: query.location_id,
  startDate: query.start_date,
  endDate: query.end_date,
  search: query.search,
  near: nearOf(query),
})

async function ticketRateBodies(events: Event[], { loaders, now }: Context): Promise<TicketRateBody[][]> {
  const rates = await loaders.get(ticketRatesByEventId).loadAll(events.map(({ id }) => id))
  const ids = rates.flat().map(({ id }) => id)
  const [prices, supplements, questions] = await Promise.all([
    loaders.get(pricesByTicketRateId).loadAll(ids),
    loaders.get(supplementsByTicketRateId).loadAll(ids),
    loaders.get(questionsByTicketRateId).loadAll(ids),
  ])
  let next = 0
  return events.map((event, index) =>
    (rates[index] ?? []).map((rate) => {
      const place = next++
      return toTicketRateBody(rate, {
        event,
        prices: prices[place] ?? [],
        supplements: supplements[place] ?? [],
        questions: questions[place] ?? [],
        now,
      })
    }),
  )
}

// RFC 8288: where the pages around this one are. `asked` is what the request line said: a path, or a whole address.
function linksOf(address: string, asked: string, { limit, offset }: Query, goesOn: boolean): string {
  const link = (rel: string, to: number) => {
    const { searchParams } = new URL(asked, address)
    searchParams.set('limit', String(limit))
    searchParams.set('offset', String(to))
    return `<${address}?${searchParams}>; rel="${rel}"`
  }
  return [
    ...(goesOn && offset + limit <= scalars.maxOffset ? [link('next', offset + limit)] : []),
    ...(offset > 0 ? [link('prev', Math.max(0, offset - limit))] : []),
  ].join(', ')
}

/** GET /events (INTERFACE, events; DECISIONS 3). */
export const eventRoutes =
  (services: Services, responseCache: ResponseCache): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/events',
      {
        preParsing: authenticatedRead(services, responseCache, requireChannel),
        schema: {
          operationId: 'listEvents',
          summary: 'List events',
          description:
            'By `start_date`, then `_id`. Without a date only events that have not ended. The `Link` header carries `rel="next"` and `rel="prev"`. With an `If-None-Match` that holds the `ETag` of the answer it is 304.',
          tags: ['Channels'],
          security: [{ apiKey: [] }],
          querystring: query,
          response: { 200: page, '4xx': errorBody },
        },
      },
      (request, reply) =>
        answerRead(responseCache, request, reply, async () => {
          const { query, url, routeOptions } = request
          const ctx = catalogueContext(request.ctx)
          const { limit, offset, populate } = query
          const found = await searchEvents(filterOf(query), { first: limit, offset }, ctx)
          const shown = found.slice(0, limit)
          const rates = populate && (await ticketRateBodies(shown, ctx))
          const data = shown.map((event, index) => toEventBody(event, rates?.[index]))
          const link = linksOf(`${services.publicUrl()}${routeOptions.url}`, url, query, found.length > limit)
          return { body: pageBytes({ success: true, data }), link }
        }),
    )
  }
