import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { priceExample } from '../ticket-rate/price-example.ts'
import type { EventBody } from './event-body.ts'

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
  ticket_rates: [
    {
      _id: exampleIds.ticketRateId,
      organization_id: 'org_demo_luna',
      event_id: exampleIds.eventId,
      name: 'Entrance',
      slug: 'entrance',
      valid_from: '2026-11-01T09:00:00.000Z',
      complete: false,
      type: 'limited',
      prices: [priceExample],
      supplements: [
        {
          _id: 'sup_01jd8r6t6a2c4e6g8j1m3p5r7t',
          label: 'Three drinks',
          price: 12,
          has_fake_price: true,
          fake_price: 15,
        },
      ],
      available: true,
      availability: { sold: 120, available: 80 },
      min: null,
      max: 10,
      questions: [
        {
          _id: 'que_01jd8r6t6b3d5f7h9k2m4p6r8t',
          label: 'How did you hear about us?',
          type: 'dropdown',
          required: false,
          items: ['A friend', 'A poster', 'The radio'],
        },
      ],
      show_all_prices: true,
      warranty: { enabled: true, percentage: 10, hours: 24 },
    },
  ],
  iframe: null,
}
