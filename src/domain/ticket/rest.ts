import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { type Context, requireIntegration, requireScope, type Services } from '../../request/context.ts'
import { authenticated } from '../../rest/authenticate.ts'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { ticketBody, ticketExample, toTicketBody } from './body.ts'
import { createLookupContext } from './loaders.ts'
import { requireTicket } from './require-ticket.ts'

const ticketAnswer = z
  .object({ success: z.literal(true).describe('Always true for a ticket.'), data: ticketBody })
  .meta({ id: 'TicketResponse', description: 'The ticket.' })

async function lookUp(id: string, ctx: Context) {
  const ticket = await requireTicket(id, ctx)
  const { rateName, rateSlug } = ticket
  if (rateName === null || rateSlug === null) throw new Error(`rate of ticket ${id} not found`)
  return toTicketBody({ ...ticket, rateName, rateSlug })
}

/** GET /integrations/tickets/{ticketId} (INTERFACE, ticket lookup; DECISIONS 2). */
export const lookupRoutes =
  (services: Services): FastifyPluginAsyncZod =>
  async (app) => {
    app.get(
      '/integrations/tickets/:ticketId',
      {
        preParsing: authenticated<FastifyRequest<{ Params: { ticketId: string } }>>(
          services,
          (ctx) => requireIntegration(ctx) && requireScope(ctx, 'GET /integrations/tickets/{ticketId}'),
          (services, credentials, { params }) => createLookupContext(services, credentials, params.ticketId),
        ),
        schema: {
          operationId: 'lookUpTicket',
          summary: 'Read one ticket',
          description:
            'Reads one ticket of the organization. Integrations only. Accepts either method of authentication: `x-api-key`, or `integration_id` with `secret`.',
          tags: ['Integrations'],
          security: [{ integrationKey: [] }, { integrationId: [], secret: [] }],
          params: z.object({ ticketId: z.string().describe('Ticket identifier.') }),
          querystring: z.strictObject({}),
          response: { 200: ticketAnswer },
          example: {
            params: { ticketId: exampleIds.ticketId },
            answer: { success: true, data: ticketExample },
          },
        },
      },
      async ({ params, ctx }) => ({ success: true as const, data: await lookUp(params.ticketId, ctx) }),
    )
  }
