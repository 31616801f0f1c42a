import { z } from 'zod'
import { countryCode, httpUrl, identifier, latitude, longitude, text } from '../../shared/input-types.ts'
import type { priceBody, questionBody, supplementBody, TicketRateBody } from '../ticket-rate/body.ts'
import type { EventBody } from './event-body.ts'
import {
  amount,
  count,
  currency,
  isPercentage,
  largestCount,
  optional,
  percentage,
  rule,
  timestamp,
  timezone,
} from './fields.ts'

// The file that an import reads: organizations, locations, and events as GET /events?populate=* gives them. Each
// `satisfies` holds that no field of a body is forgotten here.

const derived = 'Where it is absent it is derived from the names, so that importing again finds it.'

export const organizationFile = z.strictObject({
  _id: identifier,
  name: text(200),
  slug: optional(text(200)),
  currency,
  platform_fee_percentage: percentage.nullish().describe('What the platform keeps of each price.'),
})

export const locationFile = z
  .strictObject({
    _id: identifier,
    organization_id: identifier,
    name: text(200),
    address: optional(text(500)),
    city: optional(text(200)),
    country_code: optional(countryCode),
    latitude: latitude.nullish(),
    longitude: longitude.nullish(),
    timezone: timezone.nullish(),
  })
  .refine(
    (location) => (location.latitude == null) === (location.longitude == null),
    rule('longitude', 'must be given where latitude is, and only there'),
  )

export const priceFile = z
  .strictObject({
    _id: identifier.nullish().describe(derived),
    name: optional(text(200)).describe("The rate's name where it is absent."),
    price: amount,
    valid_until: timestamp.nullish(),
    quantity: count(0).nullish().describe('Tickets sold at this price in all; 0 or absent for no cap.'),
    includes: optional(text(2000)),
    additional_info: optional(text(2000)),
    fee_type: z.enum(['percentage', 'fixed'], 'must be percentage or fixed').nullish(),
    fee_quantity: z.number().min(0, 'must be at least 0').nullish(),
  } satisfies Record<keyof z.output<typeof priceBody>, z.ZodType>)
  .refine(
    ({ fee_type, fee_quantity }) => fee_type === 'fixed' || isPercentage(fee_quantity ?? 0),
    rule('fee_quantity', 'must be a percentage of at most 100, with at most four decimals'),
  )

export const supplementFile = z.strictObject({
  _id: identifier.nullish().describe(derived),
  label: text(200),
  price: amount,
  has_fake_price: z.boolean().nullish(),
  fake_price: amount.nullish(),
} satisfies Record<keyof z.output<typeof supplementBody>, z.ZodType>)

export const questionFile = z
  .strictObject({
    _id: identifier.nullish().describe(derived),
    label: text(500),
    type: optional(text(50)).describe('Where it is absent: dropdown if there are items, else text.'),
    required: z.boolean().nullish(),
    items: z.array(text(200)).nullish(),
  } satisfies Record<keyof z.output<typeof questionBody>, z.ZodType>)
  .refine(
    ({ type, items }) => type !== 'dropdown' || (items ?? []).length !== 0,
    rule('items', 'must hold at least one choice of a dropdown'),
  )

const availability = z
  .strictObject({ sold: count(0).nullish(), available: count(0).nullable() })
  .refine(
    ({ sold, available }) => !((sold ?? 0) + (available ?? 0) > largestCount),
    rule('available', `must be at most ${largestCount} together with sold`),
  )

const ticketRateShape = {
  _id: identifier.nullish().describe(derived),
  organization_id: identifier.nullish().describe("The event's, if it is given at all."),
  event_id: identifier.nullish().describe("The event's, if it is given at all."),
  name: text(200),
  slug: optional(text(200)),
  valid_from: timestamp.nullish(),
  complete: z.boolean().nullish().describe('Closed by hand.'),
  type: optional(text(50)),
  available: z.boolean().nullish().describe('Not read: it follows from the rest.'),
  availability: availability
    .nullish()
    .describe('The capacity is the sum of both. Absent, or with available null: there is no limit.'),
  min: count(0).nullish().describe('The fewest tickets of a checkout; 0 or absent for no such limit.'),
  max: count(0).nullish().describe('The most tickets of a checkout; 0 or absent for no such limit.'),
  show_all_prices: z
    .boolean()
    .nullish()
    .describe('When false, prices that are not in the list stay on sale, as an export names one alone.'),
  warranty: z
    .strictObject({
      enabled: z.boolean().nullish(),
      percentage: percentage.nullish(),
      hours: count(0).nullish(),
    })
    .nullish(),
}

const eventShape = {
  _id: identifier.nullish().describe(derived),
  name: text(200),
  slug: optional(text(200)),
  description: optional(text(20_000)),
  age: optional(text(50)).describe('Minimum age as text.'),
  outfit: optional(text(500)),
  ambiences: z.array(text(100)).nullish(),
  music_genres: z.array(text(100)).nullish(),
  artists: z.array(z.strictObject({ name: text(200), image_url: optional(httpUrl) })).nullish(),
  display_date: timestamp.nullish(),
  start_date: timestamp,
  end_date: timestamp,
  organization_id: identifier,
  image_url: optional(httpUrl),
  location_id: identifier.nullish(),
  iframe: z.strictObject({ tag_url: optional(httpUrl), script_url: optional(httpUrl) }).nullish(),
}

// What is listed inside the file, an event and a rate is read one by one,
// so that a mistake in one hides none in another.
const list = z.array(z.unknown(), 'must be a list').nullish()

export const ticketRateFile = z
  .strictObject({
    ...ticketRateShape,
    prices: list,
    supplements: list,
    questions: list,
  } satisfies Record<keyof TicketRateBody, z.ZodType>)
  .refine(({ min, max }) => !((min || 1) > (max || largestCount)), rule('max', 'must be at least min'))

export const eventFile = z
  .strictObject({ ...eventShape, ticket_rates: list } satisfies Record<keyof EventBody, z.ZodType>)
  .refine((event) => !(event.end_date < event.start_date), rule('end_date', 'must not be before start_date'))

export const topOfFile = z
  .strictObject({ organizations: list, locations: list, events: list })
  .refine((file) => Object.keys(file).length > 0, 'must hold organizations, locations or events')

const listOf = <T extends z.ZodType>(type: T, description: string) =>
  z.array(type).nullish().describe(description)

/** The whole file at once, for its type and its JSON Schema. */
const catalogueFile = z.strictObject({
  organizations: listOf(organizationFile, 'Who sells.'),
  locations: listOf(locationFile, 'Where events take place.'),
  events: listOf(
    z.strictObject({
      ...eventShape,
      ticket_rates: listOf(
        z.strictObject({
          ...ticketRateShape,
          prices: listOf(priceFile, 'The first that can be bought is the current one.'),
          supplements: listOf(supplementFile, 'What else can be bought with a ticket.'),
          questions: listOf(questionFile, 'What a buyer is asked.'),
        }),
        'Rates that a list no longer names are removed from sale. Without a list they stay as they are.',
      ),
    }),
    'Events in the shape of GET /events?populate=*.',
  ),
})

export type CatalogueFile = z.input<typeof catalogueFile>

/** The JSON Schema of the file (draft 2020-12). What only a whole catalogue tells, such as references, isn't in it. */
export const catalogueJsonSchema = () =>
  z.toJSONSchema(catalogueFile.meta({ title: 'Catalogue of the ticketing gateway' }), { io: 'input' })
