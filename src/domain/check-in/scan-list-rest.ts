import { z } from 'zod'
import { type Answer, Representation, sendRepresentation } from '../../http/representation.ts'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { route } from '../../rest/route.ts'
import { sha256 } from '../../shared/ids.ts'
import * as scalars from '../../shared/input-types.ts'
import { listScanCodes, maxScanListPage, type ScanListPage } from './list-scan-codes.ts'

const supplementBody = z
  .object({
    _id: z.string().describe('Supplement identifier.'),
    label: z.string().describe('Display name.'),
    product_quantity: z.int().describe('Number of items bought.'),
    product_quantity_used: z.int().describe('Number of items redeemed.'),
  })
  .meta({ id: 'ScanListSupplement', description: 'Supplement that was bought with a ticket.' })

const entryBody = z
  .object({
    _id: z.string().describe('Ticket identifier.'),
    code_hash: z
      .string()
      .describe('SHA-256, in lower-case hexadecimal, of `hash.salt` followed by the code of the ticket.'),
    rate_id: z.string().describe('Identifier of the ticket rate.'),
    status: z
      .enum(['activated', 'cancelled'])
      .describe('Ticket status: `activated` admits, `cancelled` does not any more.'),
    for: z.int().describe('Number of people that the ticket admits.'),
    enter: z.int().describe('Number of people inside now.'),
    entry_date: z.int().describe('Time of the last entry in Unix seconds; 0 if nobody has entered.'),
    supplements: z.array(supplementBody).describe('Supplements bought with the ticket.'),
  })
  .meta({ id: 'ScanListEntry', description: 'Ticket at the door, without its code and its holder.' })

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
      .array(entryBody)
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
  data: [
    {
      _id: exampleIds.ticketId,
      code_hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      rate_id: exampleIds.ticketRateId,
      status: 'activated',
      for: 1,
      enter: 0,
      entry_date: 0,
      supplements: [],
    },
  ],
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
  const facts = {
    event: {
      _id: event.id,
      start_date: event.startDate.toISOString(),
      end_date: event.endDate.toISOString(),
      opens_at: opensAt.toISOString(),
    },
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
    example: { params: { eventId: exampleIds.eventId }, query: { limit: 5 }, answer: scanListExample },
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
