import { z } from 'zod'
import { sha256 } from '../../engine/base/ids.ts'
import * as scalars from '../../engine/base/input-types.ts'
import { type Answer, Representation, sendRepresentation } from '../../engine/http/representation.ts'
import { body, integer, list, oneOf, text } from '../../engine/rest/body.ts'
import { route } from '../../engine/rest/route.ts'
import { exampleIds } from '../contract/ids.ts'
import { listScanCodes, maxScanListPage, type ScanListPage } from './list-scan-codes.ts'

// Bodies of what the database writes, under these names.

const supplement = body('ScanListSupplement', 'Supplement that was bought with a ticket.', {
  _id: text('_id', 'Supplement identifier.', 'sup_1'),
  label: text('label', 'Display name.', 'Drink'),
  product_quantity: integer('product_quantity', 'Number of items bought.', 2),
  product_quantity_used: integer('product_quantity_used', 'Number of items redeemed.', 1),
})

const entry = body('ScanListEntry', 'Ticket at the door, without its code and its holder.', {
  _id: text('_id', 'Ticket identifier.', exampleIds.ticketId),
  code_hash: text(
    'code_hash',
    'SHA-256, in lower-case hexadecimal, of `hash.salt` followed by the code of the ticket.',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ),
  rate_id: text('rate_id', 'Identifier of the ticket rate.', exampleIds.ticketRateId),
  status: oneOf(
    'status',
    ['activated', 'cancelled'],
    'Ticket status: `activated` admits, `cancelled` does not any more.',
    'activated',
  ),
  for: integer('for', 'Number of people that the ticket admits.', 1),
  enter: integer('enter', 'Number of people inside now.', 0),
  entry_date: integer('entry_date', 'Time of the last entry in Unix seconds; 0 if nobody has entered.', 0),
  supplements: list('supplements', supplement, 'Supplements bought with the ticket.'),
})

const scanListBody = z
  .object({
    success: z.literal(true).describe('Always true for a page.'),
    event: z
      .object({
        _id: z.string().describe('Event identifier.'),
        start_date: z.iso.datetime().describe('Start of the event.'),
        end_date: z.iso.datetime().describe('End of the event.'),
        opens_at: z.iso.datetime().describe('Time at which the doors open.'),
      })
      .describe('Event at the door.'),
    hash: z
      .object({
        algorithm: z.literal('sha256').describe('Hash function of `code_hash`.'),
        salt: z
          .string()
          .describe('Text before the code, random for each event. The same in every answer for the event.'),
      })
      .describe('Hash of the codes.'),
    data: z
      .array(entry.schema)
      .describe('Tickets. An entry replaces what was read of the ticket with its `_id` before.'),
    cursor: z.string().describe('Value of `since` for the next request, at once or later.'),
    has_more: z.boolean().describe('True if the next request has more to read now.'),
  })
  .meta({ id: 'ScanList', description: 'Page of the scan list.' })

const scanListExample: z.output<typeof scanListBody> = {
  success: true,
  event: {
    _id: exampleIds.eventId,
    start_date: '2026-12-05T20:00:00.000Z',
    end_date: '2026-12-06T02:00:00.000Z',
    opens_at: '2026-12-05T08:00:00.000Z',
  },
  hash: { algorithm: 'sha256', salt: '5d41402abc4b2a76b9719d911017c592' },
  data: [entry.example],
  cursor: 'eyJwIjo0Mn0',
  has_more: false,
}

const query = z.strictObject({
  since: z
    .string()
    .min(1, 'must not be empty')
    .max(1_000, 'must be at most 1000 characters')
    .optional()
    .describe('Cursor of an earlier answer: continues the list, or returns what has changed since.'),
  limit: scalars
    .fromQuery(scalars.integer(1, maxScanListPage))
    .default(1_000)
    .describe(`Maximum number of tickets to return, 1 to ${maxScanListPage}.`),
})

// The cursor moves with every change of the organization. An older one with the same entries is as good, so
// the ETag leaves it out.
function toAnswer(page: ScanListPage, link: string): Answer {
  const { event, opensAt, salt, entries, cursor, hasMore } = page
  const { id: _id, startDate: start_date, endDate: end_date } = event
  const facts = {
    event: { _id, start_date, end_date, opens_at: opensAt },
    hash: { algorithm: 'sha256', salt },
  }
  const head = JSON.stringify(facts).slice(1, -1)
  const tail = JSON.stringify({ cursor, has_more: hasMore }).slice(1)
  return {
    headers: { 'content-type': 'application/json; charset=utf-8', ...(hasMore && { link }) },
    body: Buffer.from(`{"success":true,${head},"data":[${entries}],${tail}`),
    // Holds no secret and nothing of a person.
    isShareable: true,
    weakTag: sha256(`${head} ${hasMore} ${entries}`).slice(0, 43),
  }
}

/** GET /integrations/events/{eventId}/scan-list (DECISIONS 54). */
export const scanListRoute = route({
  method: 'GET',
  url: '/integrations/events/:eventId/scan-list',
  needs: { caller: 'integration', scope: 'door' },
  schema: {
    operationId: 'listScanCodes',
    summary: 'List ticket codes for scanners',
    description:
      'Lists the tickets of an event for scanners that work offline: hashes of their codes, people that they admit and that are inside, and supplements. Contains neither codes nor anything of a person. Integrations only. Without `since` the list begins. Ask again with the `cursor` of the answer as `since` while `has_more` is true; afterwards the same cursor returns what has changed since: tickets that were paid or cancelled, that people entered or left with, or that have another code after a transfer. Upload the scans with the GraphQL mutation `checkInTickets`. While `has_more` is true, `Link` carries `rel="next"`.',
    tags: ['Integrations'],
    params: z.object({ eventId: z.string().describe('Event identifier.') }),
    querystring: query,
    response: { 200: scanListBody },
    refuses: ['CURSOR_UNKNOWN'],
    sends: ['Link'],
    isConditional: true,
    example: {
      params: { eventId: exampleIds.eventId },
      query: { limit: 5 },
      others: { since: scanListExample.cursor },
      answer: scanListExample,
    },
  },
  handler: (request, reply) => {
    const { params, query, ctx, routeOptions } = request
    const path = routeOptions.url?.replace(':eventId', encodeURIComponent(params.eventId))
    const answer = listScanCodes({ ...params, ...query }, ctx).then((page) => {
      const next = new URLSearchParams({ since: page.cursor, limit: String(query.limit) })
      return new Representation(toAnswer(page, `<${ctx.services.publicUrl()}${path}?${next}>; rel="next"`))
    })
    sendRepresentation(request, reply, answer)
  },
})
