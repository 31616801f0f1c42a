import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { answerOf } from '../../engine/rest/body.ts'
import { answerRead, linkTo, route } from '../../engine/rest/route.ts'
import { inQuery } from '../../engine/rest/snake-case.ts'
import { type Context, isPublic, loadNamed } from '../caller/context.ts'
import { exampleIds } from '../contract/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import { eventById } from '../event/loaders.ts'
import type { Event } from '../event/table.ts'
import { ticketRateBody } from '../ticket-rate/body.ts'
import {
  pricesByTicketRateId,
  questionsByTicketRateId,
  supplementsByTicketRateId,
} from '../ticket-rate/loaders.ts'
import { ticketRatesByEventId } from '../ticket-rate/offer-loaders.ts'
import type { TicketRate } from '../ticket-rate/table.ts'
import { eventBody } from './event-body.ts'
import { type EventFilter, eventFilter, readCursor, searchEvents, toCursor } from './search-events.ts'

const number = scalars.fromQuery

// Cost of a page, of an event in it, and of one with its rates, as GraphQL counts them.
const costOfPage = 5_000
const costOfEvent = 20
const costOfEventWithRates = 607

const populate = z
  .string()
  .transform((list) =>
    list
      .replaceAll('_', '-')
      .split(',')
      .map((option) => option.trim())
      .filter(Boolean),
  )
  .pipe(z.array(z.enum(['*', 'ticket-rates', 'capacity'], 'must be *, ticket-rates or capacity')))
  .optional()
  .describe(
    'Comma-separated list of parts to include: `*` (all) or `ticket-rates`; with `capacity` beside them, `availability` says the total number of places as well.',
  )

/** Parameters of GET /events. */
const query = inQuery(
  eventFilter
    .pick({ organizationId: true, startDate: true, endDate: true, locationId: true, search: true })
    .extend({
      populate,
      lat: number(scalars.latitude)
        .optional()
        .describe('Latitude of the centre, in degrees. Required with `lng` or `radius`.'),
      lng: number(scalars.longitude)
        .optional()
        .describe('Longitude of the centre, in degrees. Required with `lat` or `radius`.'),
      radius: number(scalars.radius)
        .optional()
        .describe('Radius in kilometres, at most 500. Defaults to 5 if `lat` and `lng` are given.'),
      limit: number(scalars.pageSize).default(50).describe('Number of events to return, 1 to 100.'),
      offset: number(scalars.offset)
        .default(0)
        .describe('Number of events to skip, at most 10000. Page through a longer list by `cursor`.'),
      cursor: z
        .string()
        .max(200, 'must be at most 200 characters')
        .optional()
        .describe(
          'Returns events after this place, however far into the list. Begin with an empty one: the `Link` header then carries the next.',
        ),
    }),
)

type Query = z.output<typeof query>

const bodies = z.array(eventBody.schema).describe('Events of the page, at most `limit`.')
const page = answerOf('EventPage', 'Page of events; empty past the end.', 'a page', bodies)

function nearOf({ lat, lng, radius }: Pick<Query, 'lat' | 'lng' | 'radius'>): EventFilter['near'] {
  if (lat !== undefined && lng !== undefined) return { latitude: lat, longitude: lng, radius: radius ?? 5 }
  if (lat === undefined && lng === undefined && radius === undefined) return null
  const missing = lat === undefined ? 'lat' : 'lng'
  throw refusal('REQUIRED', 'lat and lng go together, and radius needs both.', [missing])
}

/** Makes the bodies of events, with the ticket rates that `populate` asks for and everything that is shown of them. */
async function toBodies(events: Event[], populate: Query['populate'], ctx: Context) {
  if (!populate) return events.map((event) => eventBody.of(event, undefined))
  const { loaders, now } = ctx
  const shown = { now, withCapacity: populate.includes('capacity'), isPublic: isPublic(ctx) }
  const toRateBody = async (rate: TicketRate, event: Event) =>
    ticketRateBody.of(rate, {
      event,
      prices: await loaders.load(pricesByTicketRateId, rate.id),
      supplements: await loaders.load(supplementsByTicketRateId, rate.id),
      questions: await loaders.load(questionsByTicketRateId, rate.id),
      ...shown,
    })
  const toBody = async (event: Event) => {
    const rates = await loaders.load(ticketRatesByEventId, event.id)
    return eventBody.of(event, await Promise.all(rates.map((rate) => toRateBody(rate, event))))
  }
  return Promise.all(events.map(toBody))
}

// Links to the next and previous pages.
function linksOf(request: FastifyRequest, { limit, offset, cursor }: Query, last: Event | undefined): string {
  const link = (rel: 'next' | 'prev', place: { offset: number } | { cursor: string }) =>
    linkTo(request, rel, [], { limit, ...place })
  if (cursor !== undefined) return last ? link('next', { cursor: toCursor(last) }) : ''
  return [
    ...(last && offset + limit <= scalars.maxOffset ? [link('next', { offset: offset + limit })] : []),
    ...(offset > 0 ? [link('prev', { offset: Math.max(0, offset - limit) })] : []),
  ].join(', ')
}

function pageOf({ limit, offset, cursor }: Pick<Query, 'limit' | 'offset' | 'cursor'>) {
  if (cursor !== undefined && offset > 0) throw refusal('INVALID', 'cursor goes without offset.', ['cursor'])
  return { first: limit, offset, after: cursor ? readCursor(cursor, 'cursor') : null }
}

/** GET /events (INTERFACE, events; DECISIONS, listing events). */
export const eventListRoute = route({
  method: 'GET',
  url: '/events',
  needs: { caller: 'any', scope: 'catalogue', shared: true },
  schema: {
    operationId: 'listEvents',
    summary: 'List events',
    description:
      'Lists the events of the organizations that have given the channel access, or of the integration’s organization, ordered by `start_date` and then by `_id`. Without `start_date` and `end_date`, lists only events that have not ended. The `Link` header carries `rel="next"` and `rel="prev"`.',
    tags: ['Channels'],
    querystring: query,
    response: { 200: page },
    // `lat` and `lng` go together.
    refuses: ['REQUIRED', 'ORIGIN_NOT_ALLOWED'],
    sends: ['Link'],
    isConditional: true,
    example: {
      query: { populate: '*', limit: 5 },
      others: {
        ...{
          organization_id: eventBody.example.organization_id,
          location_id: 'loc_demo_1',
          search: 'vermut',
        },
        ...{ start_date: '2026-12-01', end_date: '2027-02-01', lat: 40.4168, lng: -3.7038, radius: 10 },
        ...{
          offset: 50,
          cursor: toCursor({ startDate: new Date(1_798_747_200_000), id: exampleIds.eventId }),
        },
      },
      answer: { success: true, data: [eventBody.example] },
    },
  },
  handler: (request, reply) =>
    answerRead(request, reply, async (ctx) => {
      const { query } = request
      const { populate, limit, offset, cursor, lat, lng, radius, ...filter } = query
      const refused = request.spend(costOfPage + limit * (populate ? costOfEventWithRates : costOfEvent))
      if (refused) throw refused
      const near = nearOf({ lat, lng, radius })
      const { found } = await searchEvents({ ...filter, near }, pageOf({ limit, offset, cursor }), ctx)
      const shown = found.slice(0, limit)
      const data = await toBodies(shown, populate, ctx)
      const link = linksOf(request, query, found.length > limit ? shown.at(-1) : undefined)
      return { body: { success: true, data }, link }
    }),
})

/** Serves GET /events/{eventId}, `event` of GraphQL for clients of REST (DECISIONS 119). */
export const eventRoute = route({
  method: 'GET',
  url: '/events/:eventId',
  needs: { caller: 'any', scope: 'catalogue', shared: true },
  schema: {
    operationId: 'readEvent',
    summary: 'Read one event',
    description:
      'Reads one event of an organization that has given the channel access, or of the organization of the integration, ended or not.',
    tags: ['Channels', 'Integrations'],
    params: z.object({ eventId: z.string().describe('Event identifier.') }),
    querystring: z.strictObject({ populate }),
    response: { 200: answerOf('EventResponse', 'The event.', 'an event', eventBody.schema) },
    refuses: ['ORIGIN_NOT_ALLOWED'],
    isConditional: true,
    example: {
      params: { eventId: exampleIds.eventId },
      query: { populate: '*' },
      answer: { success: true, data: eventBody.example },
    },
  },
  handler: (request, reply) =>
    answerRead(request, reply, async (ctx) => {
      const event = await loadNamed(ctx, eventById, request.params.eventId)
      if (!event) throw refusal('NOT_FOUND', 'There is no such event.', ['eventId'])
      const [data] = await toBodies([event], request.query.populate, ctx)
      return { body: { success: true, data }, link: '' }
    }),
})
