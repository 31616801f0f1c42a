import { z } from 'zod'
import type { Event } from '../event/table.ts'
import { type TicketRateBody, ticketRateBody } from '../ticket-rate/body.ts'

/** JSON shape of an event (INTERFACE, Event). */
export const eventBody = z.object({
  _id: z.string().meta({ description: 'Event identifier.' }),
  name: z.string().meta({ description: 'Display name.' }),
  slug: z.string().meta({ description: 'URL-friendly name.' }),
  description: z.string().nullable().meta({ description: 'Description for the public.' }),
  age: z.string().nullable().meta({ description: 'Minimum age, as text; null for any age.' }),
  outfit: z.string().nullable().meta({ description: 'Dress code.' }),
  ambiences: z.array(z.string()).meta({ description: 'Moods, such as `dancing` or `open air`.' }),
  music_genres: z.array(z.string()).meta({ description: 'Music genres.' }),
  artists: z
    .array(
      z.object({
        name: z.string().meta({ description: 'Stage name.' }),
        image_url: z.url().nullable().meta({ description: 'URL of a picture.' }),
      }),
    )
    .meta({ description: 'Performers.' }),
  display_date: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'Date to display if it differs from the start.' }),
  start_date: z.iso.datetime().meta({ description: 'Start of the event, and end of its ticket sale.' }),
  end_date: z.iso.datetime().meta({ description: 'End of the event.' }),
  organization_id: z.string().meta({ description: 'Identifier of the organizer.' }),
  image_url: z.url().nullable().meta({ description: 'URL of the poster.' }),
  location_id: z.string().nullable().meta({ description: 'Identifier of the venue.' }),
  ticket_rates: z.array(ticketRateBody).optional().meta({
    description: 'Ticket rates of the event. Present if `populate` asks for them.',
  }),
  iframe: z
    .object({
      tag_url: z.url().nullable().meta({ description: 'URL of the frame.' }),
      script_url: z.url().nullable().meta({ description: 'URL of the script.' }),
    })
    .nullable()
    .meta({ description: 'Embeddable sales widget; null if there is none.' }),
})

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
