import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { preferredType } from '../../http/media-range.ts'
import { type Context, requireChannel, requireIntegration, type Services } from '../../request/context.ts'
import { authenticated } from '../../rest/authenticate.ts'
import { errorBody } from '../../rest/error-body.ts'
import { Refusal } from '../../shared/errors.ts'
import * as scalars from '../../shared/input-types.ts'
import { type ExportFormat, exportTickets, toBodies } from './export-tickets.ts'
import { toPlaceCursor } from './list-cursor.ts'
import type { ListPage } from './list-request.ts'
import { listLookups, type TicketFilter, ticketFilter, ticketOrders } from './list-tickets.ts'
import { listedTicketBody } from './listed-body.ts'

const { shape } = ticketFilter
const required = <T extends z.ZodType>(type: z.ZodOptional<z.ZodNullable<T>>): z.ZodOptional<T> =>
  type.unwrap().unwrap().optional()
const cursor = z.string().max(4_000, 'must be at most 4000 characters')

const query = z.strictObject({
  event_id: required(shape.eventId).describe('Returns only tickets for this event.'),
  ticket_rate_id: required(shape.ticketRateId).describe('Returns only tickets of this ticket rate.'),
  payment_id: required(shape.paymentId).describe('Returns only tickets of this payment.'),
  status: required(shape.status).describe('Returns only tickets with this status.'),
  sale_type: required(shape.saleType).describe('Returns only tickets that were sold in this way.'),
  referral_id: required(shape.referralId).describe('Returns only tickets of checkouts with this referral.'),
  email: required(shape.email).describe(
    'Returns only tickets with this e-mail address, whose case does not matter.',
  ),
  code: required(shape.code).describe('Returns only tickets that this code is scanned for.'),
  name: required(shape.name).describe(
    'Returns only tickets whose full name begins with this, without case and accents, ordered by it.',
  ),
  phone: required(shape.phone).describe(
    'Returns only tickets whose phone number begins with these digits, country code first, ordered by it.',
  ),
  paid_from: scalars.moment.optional().describe('Returns only tickets that were paid at or after this time.'),
  paid_until: scalars.moment.optional().describe('Returns only tickets that were paid before this time.'),
  updated_since: scalars.moment
    .optional()
    .describe(
      'Returns only tickets that changed at or after this time, which shows up to half a minute later.',
    ),
  order_by: z
    .string()
    .transform((order) => order.toUpperCase())
    .pipe(z.enum(ticketOrders, `must be one of ${ticketOrders.join(', ').toLowerCase()}`))
    .optional()
    .describe(
      'Order: `created_desc` (by default), `created_asc`, `paid_desc`, `paid_asc`, `updated_desc` or `updated_asc`.',
    ),
  limit: scalars
    .fromQuery(scalars.pageSize)
    .optional()
    .describe('Number of tickets to return, 1 to 100; 50 by default.'),
  cursor: cursor.optional().describe('Returns tickets after this place, which a `Link` header gave.'),
  before: cursor.optional().describe('Returns tickets before this place, which a `Link` header gave.'),
})
type Query = z.output<typeof query>

const filterOf = (query: Query): TicketFilter => ({
  eventId: query.event_id,
  ticketRateId: query.ticket_rate_id,
  paymentId: query.payment_id,
  status: query.status,
  saleType: query.sale_type,
  referralId: query.referral_id,
  email: query.email,
  code: query.code,
  name: query.name,
  phone: query.phone,
  paidFrom: query.paid_from,
  paidUntil: query.paid_until,
  updatedSince: query.updated_since,
})

const page = z
  .object({ success: z.literal(true), data: z.array(listedTicketBody) })
  .describe('Page of tickets. It may hold fewer than asked for, even none, while `Link` has a next one.')

const mediaTypes = ['application/json', 'text/csv', 'application/x-ndjson'] as const
const formats: Record<string, ExportFormat> = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' }
const contentTypes = { csv: 'text/csv; charset=utf-8; header=present', ndjson: 'application/x-ndjson' }

// Links to the pages on both sides (RFC 8288). `requestUrl` is a path or a full URL.
function linksOf(address: string, requestUrl: string, found: ListPage<unknown>): string {
  const link = (rel: string, name: 'cursor' | 'before', place: ListPage<unknown>['start']) => {
    if (!place) return []
    const { searchParams } = new URL(requestUrl, address)
    searchParams.delete('cursor')
    searchParams.delete('before')
    searchParams.set(name, toPlaceCursor(found.sortKey, place))
    return [`<${address}?${searchParams}>; rel="${rel}"`]
  }
  return [
    ...(found.hasNextPage ? link('next', 'cursor', found.end) : []),
    ...(found.hasPreviousPage ? link('prev', 'before', found.start) : []),
  ].join(', ')
}

function refuseIn(query: Query, names: ('limit' | 'before')[], message: string): void {
  const given = names.find((name) => query[name] !== undefined)
  if (given) throw new Refusal({ code: 'INVALID', message: `${given} ${message}`, path: [given] })
}

async function sendExport(format: ExportFormat, query: Query, ctx: Context, reply: FastifyReply) {
  refuseIn(query, ['limit', 'before'], 'is for pages: an export goes to the end of the list.')
  const pages = { orderBy: query.order_by, after: query.cursor }
  const stream = await exportTickets(format, filterOf(query), pages, ctx)
  return reply
    .headers({
      'content-type': contentTypes[format],
      'content-disposition': `attachment; filename="tickets.${format}"`,
      'cache-control': 'private, no-store',
    })
    .send(stream)
}

async function sendPage(
  address: string,
  request: FastifyRequest<{ Querystring: Query }>,
  reply: FastifyReply,
) {
  const { query, ctx, url } = request
  if (query.cursor !== undefined) refuseIn(query, ['before'], 'goes without cursor.')
  const { cursor, before, limit = 50 } = query
  const asked = { after: cursor, afterName: 'cursor', before, size: limit, isBackward: before !== undefined }
  const found = await listLookups(filterOf(query), query.order_by, asked, ctx)
  const link = linksOf(address, url, found)
  return reply
    .headers({ 'cache-control': 'private, no-store', ...(link && { link }) })
    .send({ success: true as const, data: toBodies(found.rows, ctx) })
}

type Kind = {
  path: string
  requireKind: (ctx: Context) => unknown
  operationId: string
  tag: string
  of: string
}

const listRoutes =
  ({ path, requireKind, operationId, tag, of }: Kind) =>
  (services: Services): FastifyPluginAsyncZod =>
  async (app) => {
    const preParsing = authenticated(services, requireKind)
    app.get(
      path,
      {
        preParsing,
        schema: {
          operationId,
          summary: 'List tickets',
          description: `Lists tickets ${of}, newest first unless a filter or \`order_by\` says otherwise. The \`Link\` header carries \`rel="next"\` and \`rel="prev"\`. With \`Accept: text/csv\` or \`application/x-ndjson\`, or at this path with \`.csv\` or \`.ndjson\` behind it, the whole list is streamed, a ticket a line; a connection that ends without the last chunk has lost the rest. In CSV, cells that begin like a formula have an apostrophe before them.`,
          tags: [tag],
          security: [{ apiKey: [] }, ...(tag === 'Integrations' ? [{ integrationId: [], secret: [] }] : [])],
          querystring: query,
          response: { 200: page, '4xx': errorBody },
        },
      },
      (request, reply) => {
        const format = formats[preferredType(request.headers.accept, mediaTypes)]
        if (format) return sendExport(format, request.query, request.ctx, reply)
        return sendPage(`${services.publicUrl()}${request.routeOptions.url}`, request, reply)
      },
    )
    for (const format of ['csv', 'ndjson'] as const)
      app.get(
        `${path}.${format}`,
        { preParsing, schema: { hide: true, querystring: query } },
        (request, reply) => sendExport(format, request.query, request.ctx, reply),
      )
  }

/** Serves GET /tickets: the tickets that a channel sold. */
export const channelTicketRoutes = listRoutes({
  path: '/tickets',
  requireKind: requireChannel,
  operationId: 'listOwnTickets',
  tag: 'Channels',
  of: 'that the channel sold. Channels only',
})

/** Serves GET /integrations/tickets: all tickets of an integration's organization. */
export const organizationTicketRoutes = listRoutes({
  path: '/integrations/tickets',
  requireKind: requireIntegration,
  operationId: 'listTickets',
  tag: 'Integrations',
  of: 'of the organization. Integrations only',
})
