import { z } from 'zod'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import type { Event } from '../event/table.ts'
import { type TicketRateBody, ticketRateBody } from '../ticket-rate/body.ts'

const artistBody = z
  .object({
    name: z.string().describe('Stage name.'),
    image_url: z.url().nullable().describe('URL of a picture.'),
  })
  .meta({ id: 'Artist', description: 'Performer at an event.' })

const iframeBody = z
  .object({
    tag_url: z.url().nullable().describe('URL of the frame.'),
    script_url: z.url().nullable().describe('URL of the script.'),
  })
  .meta({ id: 'SalesWidget', description: 'Embeddable sales widget of an event.' })

/** JSON shape of an event (INTERFACE, Event). */
export const eventBody = z.object({
  _id: z.string().describe('Event identifier.'),
  name: z.string().describe('Display name.'),
  slug: z.string().describe('URL-friendly name.'),
  description: z.string().nullable().describe('Description for the public.'),
  age: z.string().nullable().describe('Minimum age, as text; null for any age.'),
  outfit: z.string().nullable().describe('Dress code.'),
  ambiences: z.array(z.string()).describe('Moods, such as `dancing` or `open air`.'),
  music_genres: z.array(z.string()).describe('Music genres.'),
  artists: z.array(artistBody).describe('Performers.'),
  display_date: z.iso.datetime().nullable().describe('Date to display if it differs from the start.'),
  start_date: z.iso.datetime().describe('Start of the event, and end of its ticket sale.'),
  end_date: z.iso.datetime().describe('End of the event.'),
  organization_id: z.string().describe('Identifier of the organizer.'),
  image_url: z.url().nullable().describe('URL of the poster.'),
  location_id: z.string().nullable().describe('Identifier of the venue.'),
  ticket_rates: z
    .array(ticketRateBody.schema)
    .optional()
    .describe('Ticket rates of the event. Present if `populate` asks for them.'),
  iframe: iframeBody.nullable().describe('Embeddable sales widget; null if there is none.'),
})
eventBody.register(z.globalRegistry, { id: 'Event', description: 'Event of an organization.' })

export type EventBody = z.output<typeof eventBody>

/** Converts an event to its JSON shape, without `ticket_rates` if they are undefined (INTERFACE, Event). */
export const toEventBody = (event: Event, ticketRates?: TicketRateBody[]): EventBody => ({
  _id: event.id,
  name: event.name,
  slug: event.slug,
  description: event.description,
  age: event.age,
  outfit: event.outfit,
  ambiences: event.ambiences,
  music_genres: event.musicGenres,
  artists: event.artists.map(({ name, imageUrl }) => ({ name, image_url: imageUrl })),
  display_date: event.displayDate?.toISOString() ?? null,
  start_date: event.startDate.toISOString(),
  end_date: event.endDate.toISOString(),
  organization_id: event.organizationId,
  image_url: event.imageUrl,
  location_id: event.locationId,
  ...(ticketRates && { ticket_rates: ticketRates }),
  iframe:
    event.iframeTagUrl === null && event.iframeScriptUrl === null
      ? null
      : { tag_url: event.iframeTagUrl, script_url: event.iframeScriptUrl },
})

/** Event in the examples of the documentation, with one rate on sale. */
export const eventExample: EventBody = {
  _id: exampleIds.eventId,
  name: 'Noche de vermut',
  slug: 'noche-de-vermut',
  description: 'Three bands, and vermouth on tap until the trains run again.',
  age: '18',
  outfit: null,
  ambiences: ['dancing', 'live music'],
  music_genres: ['cumbia', 'latin'],
  artists: [{ name: 'Marisol Peña', image_url: null }],
  display_date: null,
  start_date: '2026-12-31T20:00:00.000Z',
  end_date: '2027-01-01T04:00:00.000Z',
  organization_id: 'org_demo_luna',
  image_url: 'https://pictures.example/noche-de-vermut.jpg',
  location_id: 'loc_demo_1',
  ticket_rates: [ticketRateBody.example],
  iframe: null,
}
