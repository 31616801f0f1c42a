import { z } from 'zod'
import { formatTimestamp } from '../../shared/format-timestamp.ts'
import { toMajor } from '../../shared/money.ts'
import type { Event } from '../event/table.ts'
import { isAvailable, leftOf, listedPrices } from './current-price.ts'
import type { Price, Question, Supplement, TicketRate } from './table.ts'

// The JSON shapes of INTERFACE.md. Amounts are in major units of the organization's currency.

export const priceBody = z.object({
  _id: z.string().meta({ description: 'Identifier of the price; a checkout names it as `price_id`.' }),
  name: z.string(),
  price: z.number().meta({ description: 'What the ticket costs, before fees, in major units.' }),
  valid_until: z.iso
    .datetime()
    .nullable()
    .meta({ description: 'Until when it can be bought; null for no end.' }),
  quantity: z.int().meta({ description: 'How many tickets are sold at this price in all; 0 for no cap.' }),
  includes: z.string().nullable().meta({ description: 'What the ticket includes.' }),
  additional_info: z.string().nullable(),
  fee_type: z.enum(['percentage', 'fixed']).meta({ description: 'How `fee_quantity` is meant.' }),
  fee_quantity: z.number().meta({
    description: "The organization's fee: a percentage of the price, or an amount in major units.",
  }),
})

export const supplementBody = z.object({
  _id: z.string(),
  label: z.string(),
  price: z.number().meta({ description: 'In major units.' }),
  has_fake_price: z.boolean().meta({ description: 'Whether `fake_price` is to be shown, struck through.' }),
  fake_price: z.number().nullable().meta({ description: 'The price to show as the former one.' }),
})

export const questionBody = z.object({
  _id: z.string(),
  label: z.string(),
  type: z.string().meta({ description: '`dropdown`: the answer is one of `items`. Else it is free text.' }),
  required: z.boolean(),
  items: z.array(z.string()).meta({ description: 'Choices.' }),
})

export const ticketRateBody = z.object({
  _id: z.string().meta({ description: 'Identifier of the rate; a checkout names it as `ticket_rate_id`.' }),
  organization_id: z.string(),
  event_id: z.string(),
  name: z.string(),
  slug: z.string(),
  valid_from: z.iso.datetime().nullable().meta({ description: 'Since when it is on sale; null for always.' }),
  complete: z.boolean().meta({ description: 'Closed by hand, whatever is left.' }),
  type: z.string().meta({ description: '`limited` where there is a limit to the places.' }),
  prices: z.array(priceBody).meta({
    description: 'In order; the current one is the first that can be bought. See `show_all_prices`.',
  }),
  supplements: z.array(supplementBody),
  available: z.boolean().meta({ description: 'Whether the rate can be bought now.' }),
  availability: z.object({
    sold: z.int().meta({ description: 'Tickets that are paid.' }),
    available: z.int().nullable().meta({
      description: 'Places left after paid tickets and holds; null where there is no limit.',
    }),
  }),
  min: z.int().nullable().meta({ description: 'Fewest tickets of one checkout.' }),
  max: z.int().nullable().meta({ description: 'Most tickets of one checkout.' }),
  questions: z.array(questionBody),
  show_all_prices: z.boolean().meta({ description: 'When false, `prices` holds only the current price.' }),
  warranty: z.object({
    enabled: z.boolean().meta({ description: 'Whether a ticket can be bought with a warranty.' }),
    percentage: z.number().meta({ description: 'What it costs: a percentage of price and supplements.' }),
    hours: z.int().meta({ description: 'Hours before the event until which it holds.' }),
  }),
})

export type TicketRateBody = z.output<typeof ticketRateBody>

export const toPriceBody = (price: Price): z.output<typeof priceBody> => ({
  _id: price.id,
  name: price.name,
  price: toMajor(price.amount, price.currency),
  valid_until: price.validUntil && formatTimestamp(price.validUntil),
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

const toQuestionBody = ({ id, label, type, required, items }: Question): z.output<typeof questionBody> => ({
  _id: id,
  label,
  type,
  required,
  items,
})

type Around = {
  event: Pick<Event, 'startDate'>
  /** All of the rate's listed prices, in order: which of them are shown is decided here. */
  prices: readonly Price[]
  supplements: readonly Supplement[]
  questions: readonly Question[]
  now: Date
}

/** A ticket rate as INTERFACE.md shapes it, with what is left at `now`. */
export const toTicketRateBody = (
  rate: TicketRate,
  { event, prices, supplements, questions, now }: Around,
): TicketRateBody => ({
  _id: rate.id,
  organization_id: rate.organizationId,
  event_id: rate.eventId,
  name: rate.name,
  slug: rate.slug,
  valid_from: rate.validFrom && formatTimestamp(rate.validFrom),
  complete: rate.complete,
  type: rate.type,
  prices: listedPrices(rate, prices, now).map(toPriceBody),
  supplements: supplements.map(toSupplementBody),
  available: isAvailable(rate, event, prices, now),
  availability: { sold: rate.soldBefore + rate.sold, available: leftOf(rate) },
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
