import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import * as scalars from '../../engine/base/input-types.ts'
import { preferredType } from '../../engine/http/media-type.ts'
import { answerOf } from '../../engine/rest/body.ts'
import { linkTo, type Route, route } from '../../engine/rest/route.ts'
import { inQuery } from '../../engine/rest/snake-case.ts'
import type { Context, Needs } from '../caller/context.ts'
import { exampleIds } from '../contract/ids.ts'
import { refusal } from '../contract/problem-codes.ts'
import { listedTicketBody } from '../ticket/body.ts'
import { type ExportFormat, exportTickets } from './export-tickets.ts'
import { listTickets, ticketQuery } from './list-tickets.ts'
import { type ListPage, listOrders } from './request.ts'

const cursor = z.string().max(4_000, 'must be at most 4000 characters')

/** Query parameters of the lists of tickets. */
const listQuery = inQuery(
  ticketQuery.extend({
    orderBy: z
      .string()
      .transform((order) => order.toUpperCase())
      .pipe(z.enum(listOrders, `must be one of ${listOrders.join(', ').toLowerCase()}`))
      .optional()
      .describe('Order: `created_desc` (by default) or `created_asc`.'),
    limit: scalars
      .fromQuery(scalars.pageSize)
      .optional()
      .describe('Number of tickets to return, 1 to 100; 50 by default.'),
    bom: z
      .enum(['true', 'false'])
      .optional()
      .describe(
        'With `true`, CSV begins with a mark of its encoding, which Excel needs; changes nothing else.',
      ),
    cursor: cursor.optional().describe('Returns tickets after this place, which a `Link` header gave.'),
    before: cursor.optional().describe('Returns tickets before this place, which a `Link` header gave.'),
  }),
)
type ListQuery = z.output<typeof listQuery>

const pageText = 'Page of tickets. It may hold fewer than asked for, even none, while `Link` has a next one.'
const bodies = z.array(listedTicketBody.schema).describe('Tickets of the page.')
const page = answerOf('TicketPage', pageText, 'a page', bodies)

const mediaTypes = ['application/json', 'text/csv', 'application/x-ndjson'] as const
const formats: Record<string, ExportFormat> = { 'text/csv': 'csv', 'application/x-ndjson': 'ndjson' }
const contentTypes = { csv: 'text/csv; charset=utf-8; header=present', ndjson: 'application/x-ndjson' }

// Links to the pages on both sides.
function linksOf(request: FastifyRequest, found: ListPage<unknown>): string {
  const link = (rel: 'next' | 'prev', name: 'cursor' | 'before', position: string | null) =>
    position === null ? [] : [linkTo(request, rel, ['cursor', 'before'], { [name]: position })]
  return [
    ...(found.hasNextPage ? link('next', 'cursor', found.endCursor) : []),
    ...(found.hasPreviousPage ? link('prev', 'before', found.startCursor) : []),
  ].join(', ')
}

function refuseIn(query: ListQuery, names: ('limit' | 'before')[], message: string): void {
  const given = names.find((name) => query[name] !== undefined)
  if (given) throw refusal('INVALID', `${given} ${message}`, [given])
}

async function sendExport(format: ExportFormat, query: ListQuery, ctx: Context, reply: FastifyReply) {
  refuseIn(query, ['limit', 'before'], 'is for pages: an export goes to the end of the list.')
  const { orderBy, cursor, bom, ...filter } = query
  const stream = await exportTickets(format, filter, { orderBy, after: cursor, bom: bom === 'true' }, ctx)
  return reply
    .headers({
      'content-type': contentTypes[format],
      'content-disposition': `attachment; filename="tickets.${format}"`,
    })
    .send(stream)
}

async function sendPage(request: FastifyRequest<{ Querystring: ListQuery }>, reply: FastifyReply) {
  const { query, ctx } = request
  if (query.cursor !== undefined) refuseIn(query, ['before'], 'goes without cursor.')
  const { orderBy, cursor, before, limit = 50, ...filter } = query
  const asked = { orderBy, after: cursor, afterName: 'cursor', before, size: limit }
  const found = await listTickets(filter, { ...asked, isBackward: before !== undefined }, ctx)
  const link = linksOf(request, found)
  if (link) reply.header('link', link)
  return reply.send({ success: true as const, data: found.rows.map(listedTicketBody.of) })
}

type Kind = { needs: Needs } & Record<'path' | 'operationId' | 'tag' | 'of', string>

/** Defines a list, and the export of all of it at the same path with `.csv` or `.ndjson` behind it. */
const listRoutes = ({ path, needs, operationId, tag, of }: Kind): Route[] => [
  route({
    method: 'GET',
    url: path,
    needs,
    schema: {
      operationId,
      summary: 'List tickets',
      description: `Lists tickets ${of}, newest first unless a filter or \`order_by\` says otherwise. The \`Link\` header carries \`rel="next"\` and \`rel="prev"\`. With \`Accept: text/csv\` or \`application/x-ndjson\`, or at this path with \`.csv\` or \`.ndjson\` behind it, the whole list is streamed, a ticket a line; a connection that ends without the last chunk has lost the rest. In CSV every cell is quoted and on one line, and what begins like a formula has an apostrophe before it. Excel reads letters beyond ASCII with \`bom=true\` only.`,
      tags: [tag],
      querystring: listQuery,
      response: {
        200: {
          description: 'Tickets: a page as JSON, or the whole list as lines.',
          content: {
            'application/json': { schema: page },
            'text/csv': {
              schema: z.string().describe('A line of names, and one for each ticket.'),
              example:
                '"_id","code","email"\r\n"tkt_01jd8s3k5f6g7h8j9k0m1n2p3q","K7M2PQ9RXW3DT4HBN","ada@example.com"\r\n',
            },
            'application/x-ndjson': {
              schema: z.string().describe('One JSON object a line.'),
              example: `${JSON.stringify(listedTicketBody.example)}\n`,
            },
          },
        },
      },
      refuses: ['NOT_ACCEPTABLE'],
      sends: ['Link'],
      example: {
        query: { event_id: exampleIds.eventId, limit: 5 },
        others: {
          ...{ ticket_rate_id: exampleIds.ticketRateId, payment_id: exampleIds.paymentId },
          ...{ status: 'activated', sale_type: 'online', referral_id: 'blog', code: 'K7M2PQ9RXW3DT4HBN' },
          ...{ paid_from: '2026-11-01T00:00:00Z', paid_until: '2026-12-01T00:00:00Z' },
          ...{ email: 'ada@example.com', name: 'ada', phone: '600000', order_by: 'created_asc', bom: 'true' },
          ...{ cursor: 'pWq0~eyJmIjoxfQ~', before: 'pWq0~eyJmIjoxfQ~' },
        },
        answer: { success: true, data: [listedTicketBody.example] },
      },
    },
    handler: (request, reply) => {
      const type = preferredType(request.headers.accept, mediaTypes)
      if (!type) throw refusal('NOT_ACCEPTABLE', `Tickets are answered as ${mediaTypes.join(', ')}.`)
      const format = formats[type]
      if (format) return sendExport(format, request.query, request.ctx, reply)
      return sendPage(request, reply)
    },
  }),
  ...(['csv', 'ndjson'] as const).map((format) =>
    route({
      method: 'GET',
      url: `${path}.${format}`,
      needs,
      schema: { hide: true, querystring: listQuery },
      handler: ({ query, ctx }, reply) => sendExport(format, query, ctx, reply),
    }),
  ),
]

/** Serves GET /tickets: the tickets that a channel sold. */
export const channelTicketRoutes = listRoutes({
  path: '/tickets',
  needs: { caller: 'channel', scope: 'none' },
  operationId: 'listOwnTickets',
  tag: 'Channels',
  of: 'that the channel sold. Channels only',
})

/** Serves GET /integrations/tickets: all tickets of an integration's organization. */
export const organizationTicketRoutes = listRoutes({
  path: '/integrations/tickets',
  needs: { caller: 'integration', scope: 'tickets:read' },
  operationId: 'listTickets',
  tag: 'Integrations',
  of: 'of the organization. Integrations only',
})
