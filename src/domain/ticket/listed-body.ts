import { z } from 'zod'
import { ticketBody, toTicketBody } from './body.ts'
import { ticketExample } from './body-example.ts'
import type { LookupTicket } from './table.ts'

/** JSON shape of a ticket in lists: that of the lookup, and its times. */
export const listedTicketBody = ticketBody
  .extend({
    rate_name: z
      .string()
      .nullable()
      .describe(
        "Name of the ticket rate; null if the organization has withdrawn the calling channel's access.",
      ),
    rate_slug: z
      .string()
      .nullable()
      .describe(
        "Slug of the ticket rate; null if the organization has withdrawn the calling channel's access.",
      ),
    created_at: z.iso.datetime().describe('Time of the checkout.'),
    updated_at: z.iso.datetime().describe('Time of the last change of the ticket.'),
  })
  .meta({ id: 'ListedTicket', description: 'Ticket as lists show it.' })
export type ListedTicketBody = z.output<typeof listedTicketBody>

/** Ticket in the examples of the documentation. */
export const listedTicketExample: ListedTicketBody = {
  ...ticketExample,
  created_at: '2026-11-22T18:03:40.000Z',
  updated_at: '2026-11-22T18:04:11.000Z',
}

/** Converts a ticket to its JSON shape in lists. Amounts in major units. */
export const toListedTicketBody = (ticket: LookupTicket): ListedTicketBody => ({
  ...toTicketBody({ ...ticket, rateName: ticket.rateName ?? '', rateSlug: ticket.rateSlug ?? '' }),
  rate_name: ticket.rateName,
  rate_slug: ticket.rateSlug,
  created_at: ticket.createdAt.toISOString(),
  updated_at: ticket.updatedAt.toISOString(),
})
