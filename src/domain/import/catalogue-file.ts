import { z } from 'zod'
import {
  composedText,
  countryCode,
  httpUrl,
  identifier,
  language,
  latitude,
  longitude,
  multilineText,
  text,
  typedCode,
} from '../../engine/base/input-types.ts'
import type { EventBody } from '../listing/event-body.ts'
import type { priceBody, questionBody, supplementBody, TicketRateBody } from '../ticket-rate/body.ts'
import { maxTickets, maxWarrantyHours, questionTypes, rateTypes } from '../ticket-rate/table.ts'
import {
  amount,
  availability,
  count,
  currency,
  flag,
  idText,
  isPercentage,
  limit,
  listOf,
  maxCount,
  oneOf,
  optional,
  ownIdText,
  percentage,
  rateTypeOf,
  rule,
  slug,
  timestamp,
  timezone,
} from './fields.ts'

// Schema of the import file: organizations, locations, and events in the shape of GET /events?populate=*.
// Each `satisfies` ensures that no field of a REST body is missing here.

export const discountFile = z
  .strictObject({
    _id: identifier.nullish().describe(idText),
    code: typedCode.describe('Code that buyers type. Its case does not matter.'),
    name: optional(text(200)).describe('Display name. Defaults to the code.'),
    percentage: percentage.nullish().describe('Percentage off the price. Give this or `amount`.'),
    amount: amount.nullish(),
    ticket_rate_ids: z
      .array(identifier)
      .max(1_000, 'must name at most 1000 rates')
      .nullish()
      .describe('Rates that it applies to; all of the organization if empty or null.'),
    valid_from: timestamp.nullish(),
    valid_until: timestamp.nullish(),
    quantity: limit.describe('Maximum number of tickets that it can be used for; 0 or null for no limit.'),
    max_per_checkout: limit.describe(
      'Maximum number of tickets per checkout that it applies to; 0 or null for no limit.',
    ),
  })
  .refine(
    ({ percentage, amount }) => (percentage == null) !== (amount == null),
    rule('amount', 'must be given where percentage is not, and only there'),
  )
  .refine(
    ({ valid_from, valid_until }) => !(valid_from && valid_until && valid_until <= valid_from),
    rule('valid_until', 'must be after valid_from'),
  )

export const organizationFile = z.strictObject({
  _id: identifier.describe(ownIdText),
  name: text(200),
  slug,
  currency,
  language: language
    .nullish()
    .describe('Language that buyers are addressed in unless their checkout names another. Defaults to `en`.'),
  platform_fee_percentage: percentage
    .nullish()
    .describe('Commission of the platform, in percent of each price.'),
  discounts: listOf(discountFile).describe(
    'Discounts. Those that are no longer listed are removed; without a list they stay as they are.',
  ),
})

export const locationFile = z
  .strictObject({
    _id: identifier.describe(ownIdText),
    organization_id: identifier,
    name: text(200),
    address: optional(multilineText(500)),
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
    _id: identifier.nullish().describe(idText),
    name: optional(text(200)).describe('Display name. Defaults to the name of the rate.'),
    price: amount,
    valid_until: timestamp.nullish(),
    quantity: limit.describe('Maximum number of tickets at this price; 0 or null for no limit.'),
    includes: optional(multilineText(2000)),
    additional_info: optional(multilineText(2000)),
    fee_type: z.enum(['percentage', 'fixed'], 'must be percentage or fixed').nullish(),
    fee_quantity: z.number().min(0, 'must be at least 0').nullish(),
  } satisfies Record<keyof z.output<typeof priceBody.schema>, z.ZodType>)
  .refine(
    ({ fee_type, fee_quantity }) => fee_type === 'fixed' || isPercentage(fee_quantity ?? 0),
    rule('fee_quantity', 'must be a percentage of at most 100, with at most four decimals'),
  )

export const supplementFile = z.strictObject({
  _id: identifier.nullish().describe(idText),
  label: text(200),
  description: optional(multilineText(2000)),
  product_quantity: count(1)
    .nullish()
    .describe('Number of items that a buyer gets, such as 3 for three drinks. Defaults to 1.'),
  price: amount,
  has_fake_price: flag,
  fake_price: amount.nullish(),
} satisfies Record<
  keyof z.output<typeof supplementBody.schema> | 'description' | 'product_quantity',
  z.ZodType
>)

const choice = z.union(
  [
    composedText,
    z.strictObject({
      id: composedText.describe(
        'Identifier within the question, by which the label can be mended or translated. A choice given as text is the one that has this label already, else its identifier is the text.',
      ),
      label: composedText,
    }),
  ],
  'must be texts, or objects with an id and a label',
)

export const questionFile = z
  .strictObject({
    _id: identifier.nullish().describe(idText),
    label: multilineText(500),
    type: oneOf(questionTypes).describe(
      'Kind of answer: an item, text of up to 500 characters, or `true` or `false`. Defaults to `dropdown` with items, else `text`.',
    ),
    required: flag,
    items: z.array(choice).nullish().describe('Choices of a dropdown.'),
  } satisfies Record<keyof z.output<typeof questionBody.schema>, z.ZodType>)
  .refine(
    ({ type, items }) => type !== 'dropdown' || (items ?? []).length !== 0,
    rule('items', 'must hold at least one choice of a dropdown'),
  )
  .refine(
    ({ type, items }) => !(type === 'text' || type === 'checkbox') || (items ?? []).length === 0,
    rule('items', 'must be empty: only a dropdown has choices'),
  )

export const ticketRateFile = z
  .strictObject({
    _id: identifier.nullish().describe(idText),
    organization_id: identifier.nullish().describe('Organization of the event. Optional.'),
    event_id: identifier.nullish().describe('Identifier of the event that contains it. Optional.'),
    name: text(200),
    slug,
    valid_from: timestamp.nullish(),
    complete: flag.describe('True to close the sale by hand.'),
    type: oneOf(rateTypes).describe('Optional: it follows from `availability`, which it must agree with.'),
    available: flag.describe('Ignored: it follows from the other fields.'),
    availability,
    admits: count(1).nullish().describe('Number of people that a ticket admits. Defaults to 1.'),
    transferable: flag.describe('False if tickets may not be given to another person. Defaults to true.'),
    min: limit.describe('Minimum number of tickets per checkout; 0 or null for no limit.'),
    max: limit.describe('Maximum number of tickets per checkout; 0 or null for no limit.'),
    show_all_prices: flag.describe(
      'If false, prices missing from the list stay on sale: an export lists only the current one.',
    ),
    warranty: z
      .strictObject({
        enabled: flag,
        percentage: percentage.nullish(),
        hours: count(0).max(maxWarrantyHours, `must be at most ${maxWarrantyHours}`).nullish(),
      })
      .nullish(),
    prices: listOf(priceFile).describe(
      'Prices in order. The first one that can be bought is the current price.',
    ),
    supplements: listOf(supplementFile).describe('Extras that can be bought with a ticket.'),
    questions: listOf(questionFile).describe('Questions that the buyer answers for each ticket.'),
  } satisfies Record<keyof TicketRateBody | 'admits' | 'transferable', z.ZodType>)
  .refine(({ min, max }) => !((min || 1) > (max || maxCount)), rule('max', 'must be at least min'))
  .refine(
    ({ min }) => !(Number(min) > maxTickets),
    rule('min', `must be at most ${maxTickets}, as many as a checkout takes`),
  )
  .refine(
    ({ type, availability }) =>
      !type || !rateTypes.includes(type) || type === (rateTypeOf(availability) ?? type),
    rule('type', 'must be limited where `availability` gives a number, else unlimited'),
  )

export const eventFile = z
  .strictObject({
    _id: identifier.nullish().describe(idText),
    name: text(200),
    slug,
    description: optional(multilineText(20_000)),
    age: optional(text(50)).describe('Minimum age as text.'),
    minimum_age: count(0)
      .max(99, 'must be at most 99')
      .nullish()
      .describe('Minimum age in years; 0 for any age. Read from `age` if null or absent.'),
    outfit: optional(multilineText(500)),
    ambiences: z.array(text(100)).nullish(),
    music_genres: z.array(text(100)).max(100, 'must have at most 100 music genres').nullish(),
    artists: z.array(z.strictObject({ name: text(200), image_url: optional(httpUrl) })).nullish(),
    display_date: timestamp.nullish(),
    start_date: timestamp,
    end_date: timestamp,
    organization_id: identifier,
    image_url: optional(httpUrl),
    location_id: identifier.nullish(),
    iframe: z.strictObject({ tag_url: optional(httpUrl), script_url: optional(httpUrl) }).nullish(),
    ticket_rates: listOf(ticketRateFile).describe(
      'Ticket rates. Rates that are no longer listed are removed from sale; without a list they stay as they are.',
    ),
  } satisfies Record<keyof EventBody | 'minimum_age', z.ZodType>)
  .refine((event) => !(event.end_date < event.start_date), rule('end_date', 'must not be before start_date'))

/** Schema of the lists of a file, whose objects are parsed one by one. */
export const topOfFile = z
  .strictObject({
    organizations: listOf(z.unknown()),
    locations: listOf(z.unknown()),
    events: listOf(z.unknown()),
  })
  .refine((file) => Object.keys(file).length > 0, 'must hold organizations, locations or events')

/** Schema of the whole file, for its type and its JSON Schema. */
const catalogueFile = z.strictObject({
  organizations: listOf(organizationFile).describe('Organizations that sell tickets.'),
  locations: listOf(locationFile).describe('Venues where events take place.'),
  events: listOf(eventFile).describe('Events in the shape of GET /events?populate=*.'),
})

export type CatalogueFile = z.input<typeof catalogueFile>

/** JSON Schema of the file (draft 2020-12). Does not cover checks across objects, such as references. */
export const catalogueJsonSchema = () =>
  z.toJSONSchema(catalogueFile.meta({ title: 'Catalogue of the ticketing gateway' }), { io: 'input' })
