import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { answerOf } from '../../engine/rest/body.ts'
import { route } from '../../engine/rest/route.ts'
import { exampleIds } from '../contract/ids.ts'
import { ticketBody } from './body.ts'
import { createLookupContext } from './loaders.ts'
import { requireTicket } from './require-ticket.ts'

/** GET /integrations/tickets/{ticketId} (INTERFACE, ticket lookup; DECISIONS, access). */
export const lookupRoute = route({
  method: 'GET',
  url: '/integrations/tickets/:ticketId',
  needs: {
    caller: 'integration',
    scope: 'tickets:read',
    prefetch: {
      context: createLookupContext,
      idOf: ({ params }: FastifyRequest<{ Params: { ticketId: string } }>) => params.ticketId,
    },
  },
  schema: {
    operationId: 'lookUpTicket',
    summary: 'Read one ticket',
    description:
      'Reads one ticket of the organization. Integrations only. Accepts either method of authentication: `x-api-key`, or `integration_id` with `secret`.',
    tags: ['Integrations'],
    params: z.object({ ticketId: z.string().describe('Ticket identifier.') }),
    querystring: z.strictObject({}),
    response: { 200: answerOf('TicketResponse', 'The ticket.', 'a ticket', ticketBody.schema) },
    example: {
      params: { ticketId: exampleIds.ticketId },
      answer: { success: true, data: ticketBody.example },
    },
  },
  handler: async ({ params, ctx }) => {
    const ticket = await requireTicket(params.ticketId, ctx)
    const { rateName, rateSlug } = ticket
    if (rateName === null || rateSlug === null) throw new Error(`rate of ticket ${ticket.id} not found`)
    return { success: true as const, data: ticketBody.of({ ...ticket, rateName, rateSlug }) }
  },
})
