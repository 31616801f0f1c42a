import { z } from 'zod'
import { exampleIds } from '../../rest/openapi/example-ids.ts'
import { toMajor } from '../../shared/money.ts'
import type { Event } from '../event/table.ts'
import { isAvailable, leftOf, visiblePrices } from './current-price.ts'
import {
  type Price,
  type Question,
  questionTypes,
  rateTypes,
  type Supplement,
  type TicketRate,
} from './table.ts'

// JSON shapes of a ticket rate and its parts (INTERFACE, Ticket rate). Amounts are in major units of the
// organization's currency.

export const priceBody = z.object({
  _id: z.string().describe('Price identifier, the `price_id` of a checkout.'),
  name: z.string().describe('Display name.'),
  price: z.number().describe('Price in major units, without fees.'),
  valid_until: z.iso
    .datetime()
    .nullable()
    .describe('Time until which tickets can be bought at this price; null means until the sale ends.'),
  quantity: z.int().describe('Maximum number of tickets sold at this price; 0 means no limit of its own.'),
  includes: z.string().nullable().describe('Description of what the price includes.'),
  additional_info: z.string().nullable().describe('Additional information for the buyer.'),
  fee_type: z
    .enum(['percentage', 'fixed'])
    .describe('Unit of `fee_quantity`: `percentage` of the price, or `fixed` amount.'),
  fee_quantity: z.number().describe('Fee added to the price: a percentage, or an amount in major units.'),
})
priceBody.register(z.globalRegistry, {
  id: 'Price',
  description: 'One price step of a ticket rate, such as early bird or regular.',
})

export const supplementBody = z.object({
  _id: z.string().describe('Supplement identifier, the `supplement_id` of a checkout.'),
  label: z.string().describe('Display name.'),
  price: z.number().describe('Price in major units.'),
  has_fake_price: z.boolean().describe('True if `fake_price` is to be shown struck through.'),
  fake_price: z.number().nullable().describe('Price to show struck through, in major units.'),
})
supplementBody.register(z.globalRegistry, {
  id: 'RateSupplement',
  description: 'Extra that can be bought with a ticket.',
})

export const questionBody = z.object({
  _id: z.string().describe('Question identifier, the `question_id` of an answer.'),
  label: z.string().describe('Question text.'),
  type: z
    .enum(questionTypes)
    .describe(
      'Kind of answer: `dropdown` takes one of `items`, `text` up to 500 characters, `checkbox` `true` or `false`.',
    ),
  required: z.boolean().describe('True if an answer is required.'),
  items: z.array(z.string()).describe('Choices of a dropdown.'),
})
questionBody.register(z.globalRegistry, {
  id: 'Question',
  description: 'Question that the buyer answers for each ticket.',
})

const availabilityBody = z
  .object({
    sold: z.int().describe('Number of places sold, here and elsewhere before the import.'),
    available: z.int().nullable().describe('Number of places left after sales and holds; null if unlimited.'),
    capacity: z
      .int()
      .nullish()
      .describe(
        'Total number of places, whether they are sold, held or left. Present if `populate` asks for it.',
      ),
  })
  .meta({ id: 'Availability', description: 'Number of places sold and left.' })

const warrantyBody = z
  .object({
    enabled: z.boolean().describe('True if the rate offers a warranty.'),
    percentage: z.number().describe('Cost, as a percentage of price and supplements.'),
    hours: z.int().describe('Number of hours before the start of the event at which the warranty ends.'),
  })
  .meta({
    id: 'RateWarranty',
    description:
      'Optional warranty of a ticket: the buyer can get the money back until some hours before the event.',
  })

export const ticketRateBody = z.object({
  _id: z.string().describe('Ticket rate identifier, the `ticket_rate_id` of a checkout.'),
  organization_id: z.string().describe('Identifier of the organization that sells the rate.'),
  event_id: z.string().describe('Identifier of the event.'),
  name: z.string().describe('Display name.'),
  slug: z.string().describe('URL-friendly name.'),
  valid_from: z.iso.datetime().nullable().describe('Start of the sale; null if the sale has no start time.'),
  complete: z.boolean().describe('True if the sale was closed by hand, whatever stock is left.'),
  type: z
    .enum(rateTypes)
    .describe('`limited` if the rate has a capacity, see `availability`; else `unlimited`.'),
  prices: z
    .array(priceBody)
    .describe(
      'Prices in order of position; the current one is the first that can be bought. See `show_all_prices`.',
    ),
  supplements: z.array(supplementBody).describe('Extras that can be bought with a ticket.'),
  available: z.boolean().describe('True if the rate can be bought now.'),
  availability: availabilityBody,
  min: z.int().nullable().describe('Minimum number of tickets per checkout; null means 1.'),
  max: z
    .int()
    .nullable()
    .describe('Maximum number of tickets per checkout; never more than 50, which null means.'),
  questions: z.array(questionBody).describe('Questions that the buyer answers for each ticket.'),
  show_all_prices: z
    .boolean()
    .describe('True if `prices` lists all prices; false if it lists only the current one.'),
  warranty: warrantyBody,
})
ticketRateBody.register(z.globalRegistry, {
  id: 'TicketRate',
  description: 'Kind of ticket of an event, with its prices and places.',
})

export type TicketRateBody = z.output<typeof ticketRateBody>

export const toPriceBody = (price: Price): z.output<typeof priceBody> => ({
  _id: price.id,
  name: price.name,
  price: toMajor(price.amount, price.currency),
  valid_until: price.validUntil?.toISOString() ?? null,
  quantity: price.capacity ?? 0,
  includes: price.includes,
  additional_info: price.additionalInfo,
  fee_type: price.feeType,
  fee_quantity: price.feeType === 'fixed' ? toMajor(price.feeQuantity, price.currency) : price.feeQuantity,
})

const toSupplementBody = (supplement: Supplement): z.output<typeof supplementBody> => ({
  _id: supplement.id,
  label: supplement.label,
  price: toMajor(supplement.amount, supplement.currency),
  has_fake_price: supplement.hasFakePrice,
  fake_price: supplement.fakeAmount === null ? null : toMajor(supplement.fakeAmount, supplement.currency),
})

const toQuestionBody = ({ id: _id, label, type, required, items }: Question) => ({
  _id,
  label,
  type,
  required,
  items,
})

type RateContext = {
  event: Pick<Event, 'startDate'>
  /** All listed prices of the rate, in order. `show_all_prices` is applied here. */
  prices: readonly Price[]
  supplements: readonly Supplement[]
  questions: readonly Question[]
  now: Date
  withCapacity: boolean
}

/** Converts a ticket rate to its JSON shape, with its availability at `now` (INTERFACE, Ticket rate). */
export const toTicketRateBody = (
  rate: TicketRate,
  { event, prices, supplements, questions, now, withCapacity }: RateContext,
): TicketRateBody => ({
  _id: rate.id,
  organization_id: rate.organizationId,
  event_id: rate.eventId,
  name: rate.name,
  slug: rate.slug,
  valid_from: rate.validFrom?.toISOString() ?? null,
  complete: rate.complete,
  type: rate.type,
  prices: visiblePrices(rate, prices, now).map(toPriceBody),
  supplements: supplements.map(toSupplementBody),
  available: isAvailable(rate, event, prices, now),
  availability: {
    sold: rate.soldBefore + rate.sold,
    available: leftOf(rate),
    ...(withCapacity && { capacity: rate.capacity }),
  },
  min: rate.min,
  max: rate.max,
  questions: questions.map(toQuestionBody),
  show_all_prices: rate.showAllPrices,
  warranty: {
    enabled: rate.warrantyEnabled,
    percentage: rate.warrantyPercentage,
    hours: rate.warrantyHours,
  },
})

/** Price in the examples of the documentation. */
export const priceExample: z.output<typeof priceBody> = {
  _id: exampleIds.priceId,
  name: 'Regular',
  price: 20,
  valid_until: '2026-12-30T20:00:00.000Z',
  quantity: 0,
  includes: 'One entrance',
  additional_info: null,
  fee_type: 'percentage',
  fee_quantity: 8,
}

/** JSON shape of a ticket rate in changes, in the feed and in webhooks (DECISIONS 7). */
export const rateChangeBody = z
  .object({
    ticket_rate_id: z.string().describe('Ticket rate identifier.'),
    event_id: z.string().describe('Identifier of the event.'),
  })
  .meta({ id: 'RateReference', description: 'Ticket rate of a change.' })
