import { z } from 'zod'
import * as field from '../../engine/rest/body.ts'
import { body } from '../../engine/rest/body.ts'
import { exampleIds } from '../contract/ids.ts'
import type { Event } from '../event/table.ts'
import { type TicketRateBody, ticketRateBody } from '../ticket-rate/body.ts'

const artist = body('Artist', 'Performer at an event.', {
  name: field.text('name', 'Stage name.', 'Marisol Peña'),
  image_url: field.link('imageUrl', 'URL of a picture.', null),
})

const iframe = body('SalesWidget', 'Embeddable sales widget of an event.', {
  tag_url: field.link('iframeTagUrl', 'URL of the frame.', null),
  script_url: field.link('iframeScriptUrl', 'URL of the script.', null),
})

/** Event, with its ticket rates beside it, unless they are undefined (INTERFACE, Event). */
export const eventBody = body('ListedEvent', 'Event of an organization.', {
  _id: field.text('id', 'Event identifier.', exampleIds.eventId),
  name: field.text('name', 'Display name.', 'Noche de vermut'),
  slug: field.text('slug', 'URL-friendly name.', 'noche-de-vermut'),
  description: field.optionalText(
    'description',
    'Description for the public.',
    'Three bands, and vermouth on tap until the trains run again.',
  ),
  age: field.optionalText('age', 'Minimum age, as text; null for any age.', '18'),
  outfit: field.optionalText('outfit', 'Dress code.', null),
  ambiences: field.texts('ambiences', 'Moods, such as `dancing` or `open air`.', ['dancing', 'live music']),
  music_genres: field.texts('musicGenres', 'Music genres.', ['cumbia', 'latin']),
  artists: field.list('artists', artist, 'Performers.', [artist.example]),
  display_date: field.optionalTime('displayDate', 'Date to display if it differs from the start.', null),
  start_date: field.time(
    'startDate',
    'Start of the event, and end of its ticket sale.',
    '2026-12-31T20:00:00.000Z',
  ),
  end_date: field.time('endDate', 'End of the event.', '2027-01-01T04:00:00.000Z'),
  organization_id: field.text('organizationId', 'Identifier of the organizer.', 'org_demo_luna'),
  image_url: field.link('imageUrl', 'URL of the poster.', 'https://pictures.example/noche-de-vermut.jpg'),
  location_id: field.optionalText('locationId', 'Identifier of the venue.', 'loc_demo_1'),
  ticket_rates: field.of(
    (_event: Event, ticketRates: TicketRateBody[] | undefined) => ticketRates,
    z
      .array(ticketRateBody.schema)
      .optional()
      .describe('Ticket rates of the event. Present if `populate` asks for them.'),
    [ticketRateBody.example],
  ),
  iframe: field.of(
    (event: Event) =>
      event.iframeTagUrl === null && event.iframeScriptUrl === null ? null : iframe.of(event),
    iframe.schema.nullable().describe('Embeddable sales widget; null if there is none.'),
    null,
  ),
})

export type EventBody = z.output<typeof eventBody.schema>
