import { z } from 'zod'
import { formatTimestamp } from '../../shared/format-timestamp.ts'
import type { Event } from '../event/table.ts'
import { type TicketRateBody, ticketRateBody } from '../ticket-rate/body.ts'

/** The JSON shape of an event (INTERFACE, Event). */
export const eventBody = z.object({
  _id: z.string().meta({ description: 'Identifier of the event.' }),
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  age: z.string().nullable().meta({ description: 'Minimum age as text; null for any age.' }),
  outfit: z.string().nullable().meta({ description: 'Dress code.' }),
  ambiences: z.array(z.string()),
  music_genres: z.array(z.string()),
  artists: z.array(z.object({ name: z.string(), image_url: z.url().nullable() })),
  display_date: z.iso.datetime().nullable().meta({ description: 'The moment to show to people.' }),
  start_date: z.iso.datetime(),
  end_date: z.iso.datetime(),
  organization_id: z.string(),
  image_url: z.url().nullable(),
  location_id: z.string().nullable(),
  ticket_rates: z.array(ticketRateBody).optional().meta({
    description: 'Present when populated with `ticket-rates`.',
  }),
  iframe: z
    .object({ tag_url: z.url().nullable(), script_url: z.url().nullable() })
    .nullable()
    .meta({ description: 'What embeds the event in another page; null where there is none.' }),
})

export type EventBody = z.output<typeof eventBody>

/** An event as INTERFACE.md shapes it; `ticket_rates` only where they are given. */
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
  display_date: event.displayDate && formatTimestamp(event.displayDate),
  start_date: formatTimestamp(event.startDate),
  end_date: formatTimestamp(event.endDate),
  organization_id: event.organizationId,
  image_url: event.imageUrl,
  location_id: event.locationId,
  ...(ticketRates && { ticket_rates: ticketRates }),
  iframe:
    event.iframeTagUrl === null && event.iframeScriptUrl === null
      ? null
      : { tag_url: event.iframeTagUrl, script_url: event.iframeScriptUrl },
})
