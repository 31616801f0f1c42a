import { z } from 'zod'

/** JSON shape of a ticket rate in changes, in the feed and in webhooks (DECISIONS 7). */
export const rateChangeBody = z
  .object({
    ticket_rate_id: z.string().describe('Ticket rate identifier.'),
    event_id: z.string().describe('Identifier of the event.'),
  })
  .meta({ id: 'RateReference', description: 'Ticket rate of a change.' })
