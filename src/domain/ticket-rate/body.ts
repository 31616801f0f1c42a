import { z } from 'zod'
import * as field from '../../engine/rest/body.ts'
import { body } from '../../engine/rest/body.ts'
import { exampleIds } from '../contract/ids.ts'
import type { Event } from '../event/table.ts'
import { leftOf, soldOf } from '../stock/table.ts'
import { isAvailable, shownFee, visiblePrices } from './sale-rules.ts'
import {
  type Price,
  type Question,
  questionTypes,
  rateTypes,
  type Supplement,
  type TicketRate,
} from './table.ts'

// JSON bodies of a ticket rate and its parts (INTERFACE, Ticket rate). Amounts are in major units of the
// organization's currency.

export const priceBody = body('Price', 'One price step of a ticket rate, such as early bird or regular.', {
  _id: field.text('id', 'Price identifier, the `price_id` of a checkout.', exampleIds.priceId),
  name: field.text('name', 'Display name.', 'Regular'),
  price: field.amount('amount', 'Price in major units, without fees.', 20),
  valid_until: field.optionalTime(
    'validUntil',
    'Time until which tickets can be bought at this price; null means until the sale ends.',
    '2026-12-30T20:00:00.000Z',
  ),
  quantity: field.integer(
    ({ capacity }: Price) => capacity ?? 0,
    'Maximum number of tickets sold at this price; 0 means no limit of its own.',
    0,
  ),
  includes: field.optionalText('includes', 'Description of what the price includes.', 'One entrance'),
  additional_info: field.optionalText('additionalInfo', 'Additional information for the buyer.', null),
  fee_type: field.oneOf(
    'feeType',
    ['percentage', 'fixed'],
    'Unit of `fee_quantity`: `percentage` of the price, or `fixed` amount.',
    'percentage',
  ),
  fee_quantity: field.number(
    shownFee,
    'Fee added to the price: a percentage, or an amount in major units.',
    8,
  ),
})

export const supplementBody = body('RateSupplement', 'Extra that can be bought with a ticket.', {
  _id: field.text(
    'id',
    'Supplement identifier, the `supplement_id` of a checkout.',
    'sup_01jd8r6t6a2c4e6g8j1m3p5r7t',
  ),
  label: field.text('label', 'Display name.', 'Three drinks'),
  price: field.amount('amount', 'Price in major units.', 12),
  has_fake_price: field.flag('hasFakePrice', 'True if `fake_price` is to be shown struck through.', true),
  fake_price: field.optionalAmount('fakeAmount', 'Price to show struck through, in major units.', 15),
})

export const questionBody = body('Question', 'Question that the buyer answers for each ticket.', {
  _id: field.text(
    'id',
    'Question identifier, the `question_id` of an answer.',
    'que_01jd8r6t6b3d5f7h9k2m4p6r8t',
  ),
  label: field.text('label', 'Question text.', 'How did you hear about us?'),
  type: field.oneOf(
    'type',
    questionTypes,
    'Kind of answer: `dropdown` takes one of `items`, `text` up to 500 characters, `checkbox` `true` or `false`.',
    'dropdown',
  ),
  required: field.flag('required', 'True if an answer is required.', false),
  items: field.texts(({ options }: Question) => options.map(({ label }) => label), 'Choices of a dropdown.', [
    'A friend',
    'A poster',
    'The radio',
  ]),
})

/** Values that a rate is shown with. */
type Beside = {
  event: Pick<Event, 'startDate' | 'endDate'>
  /** All listed prices of the rate, in order. `show_all_prices` is applied here. */
  prices: readonly Price[]
  supplements: readonly Supplement[]
  questions: readonly Question[]
  now: Date
  withCapacity: boolean
  /** True for a publishable key, which is told what is left, and not what was sold. */
  isPublic: boolean
}

const availability = body('Availability', 'Number of places sold and left.', {
  sold: field.optionalInteger(
    (rate: TicketRate, { isPublic }: Beside) => (isPublic ? null : soldOf(rate)),
    'Number of places sold, here and elsewhere before the import; null for a publishable key.',
    120,
  ),
  available: field.optionalInteger(
    leftOf,
    'Number of places left after sales and holds; null if unlimited.',
    80,
  ),
  capacity: field.of(
    ({ capacity }: TicketRate, { withCapacity, isPublic }: Beside) =>
      withCapacity && !isPublic ? capacity : undefined,
    z
      .int()
      .nullish()
      .describe(
        'Total number of places, whether they are sold, held or left. Present if `populate` asks for it, but for a publishable key.',
      ),
    undefined,
  ),
})

const warranty = body(
  'RateWarranty',
  'Optional warranty of a ticket: the buyer can get the money back until some hours before the event.',
  {
    enabled: field.flag('warrantyEnabled', 'True if the rate offers a warranty.', true),
    percentage: field.number('warrantyPercentage', 'Cost, as a percentage of price and supplements.', 10),
    hours: field.integer(
      'warrantyHours',
      'Number of hours before the start of the event at which the warranty ends.',
      24,
    ),
  },
)

/** Ticket rate, with its availability at a time (INTERFACE, Ticket rate). */
export const ticketRateBody = body('TicketRate', 'Kind of ticket of an event, with its prices and places.', {
  _id: field.text(
    'id',
    'Ticket rate identifier, the `ticket_rate_id` of a checkout.',
    exampleIds.ticketRateId,
  ),
  organization_id: field.text(
    'organizationId',
    'Identifier of the organization that sells the rate.',
    'org_demo_luna',
  ),
  event_id: field.text('eventId', 'Identifier of the event.', exampleIds.eventId),
  name: field.text('name', 'Display name.', 'Entrance'),
  slug: field.text('slug', 'URL-friendly name.', 'entrance'),
  valid_from: field.optionalTime(
    'validFrom',
    'Start of the sale; null if the sale has no start time.',
    '2026-11-01T09:00:00.000Z',
  ),
  complete: field.flag('complete', 'True if the sale was closed by hand, whatever stock is left.', false),
  type: field.oneOf(
    'type',
    rateTypes,
    '`limited` if the rate has a capacity, see `availability`; else `unlimited`.',
    'limited',
  ),
  prices: field.of(
    (rate: TicketRate, { prices, now }: Beside) => visiblePrices(rate, prices, now).map(priceBody.of),
    z
      .array(priceBody.schema)
      .describe(
        'Prices in order of position; the current one is the first that can be bought. See `show_all_prices`.',
      ),
    [priceBody.example],
  ),
  supplements: field.of(
    (_rate: TicketRate, { supplements }: Beside) => supplements.map(supplementBody.of),
    z.array(supplementBody.schema).describe('Extras that can be bought with a ticket.'),
    [supplementBody.example],
  ),
  available: field.flag(
    (rate: TicketRate, { event, prices, now }: Beside) => isAvailable(rate, event, prices, now),
    'True if the rate can be bought now.',
    true,
  ),
  availability: field.part(availability),
  min: field.optionalInteger('min', 'Minimum number of tickets per checkout; null means 1.', null),
  max: field.optionalInteger(
    'max',
    'Maximum number of tickets per checkout; never more than 50, which null means.',
    10,
  ),
  questions: field.of(
    (_rate: TicketRate, { questions }: Beside) => questions.map(questionBody.of),
    z.array(questionBody.schema).describe('Questions that the buyer answers for each ticket.'),
    [questionBody.example],
  ),
  show_all_prices: field.flag(
    'showAllPrices',
    'True if `prices` lists all prices; false if it lists only the current one.',
    true,
  ),
  warranty: field.part(warranty),
})

export type TicketRateBody = z.output<typeof ticketRateBody.schema>

/** Ticket rate in changes, in the feed and in webhooks (DECISIONS, changes). */
export const rateChangeBody = body('RateReference', 'Ticket rate of a change.', {
  ticket_rate_id: field.text('id', 'Ticket rate identifier.', exampleIds.ticketRateId),
  event_id: field.text('eventId', 'Identifier of the event.', exampleIds.eventId),
})
