import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  numeric,
  pgEnum,
  pgTable,
  text,
  unique,
} from 'drizzle-orm/pg-core'
import { minorUnits, percentage, timestampMs } from '../../engine/database/columns.ts'
import { events } from '../event/table.ts'
import { organizationId } from '../organization/table.ts'
import type { Counters } from '../stock/table.ts'

/** Types of a rate: with a capacity, and without. */
export const rateTypes = ['limited', 'unlimited'] as const

/** Maximum number of tickets per checkout, even if the rate allows more (DECISIONS, checkout). */
export const maxTickets = 50

/** Maximum of `warrantyHours`, ten years. Older rows may have more. */
export const maxWarrantyHours = 87_600

/** Ticket rates of events, with the rules of their sale. Those that a catalogue removes stay, because sold tickets refer
 *  to them; so do prices, supplements and questions. */
export const ticketRates = pgTable(
  'ticket_rates',
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    eventId: text('event_id')
      .notNull()
      .references(() => events.id),
    position: integer().notNull(),
    name: text().notNull(),
    slug: text().notNull(),
    validFrom: timestampMs('valid_from'),
    /** Closed by hand, whatever stock is left. */
    complete: boolean().notNull().default(false),
    /** Follows from the capacity, at import. */
    type: text({ enum: rateTypes }).notNull().default('limited'),
    min: integer(),
    max: integer(),
    showAllPrices: boolean('show_all_prices').notNull().default(true),
    warrantyEnabled: boolean('warranty_enabled').notNull().default(false),
    warrantyPercentage: percentage('warranty_percentage').notNull().default(0),
    warrantyHours: integer('warranty_hours').notNull().default(0),
    /** Number of people that a ticket admits. */
    admits: integer().notNull().default(1),
    /** False if tickets may not be given to another person. */
    transferable: boolean().notNull().default(true),
    removed: boolean().notNull().default(false),
  },
  (rate) => [
    // Targets of composite foreign keys. Organization and event of a rate never change.
    unique('ticket_rates_of_events').on(rate.id, rate.eventId, rate.organizationId),
    index().on(rate.eventId, rate.position, rate.id),
    check('ticket_rates_admit_somebody', sql`${rate.admits} >= 1`),
    check('ticket_rates_min_max', sql`${rate.min} >= 1 and ${rate.max} >= 1 and ${rate.min} <= ${rate.max}`),
  ],
)

// Columns of what is listed under a rate.
const listedUnderRate = () => ({
  id: text().primaryKey(),
  ticketRateId: text('ticket_rate_id')
    .notNull()
    .references(() => ticketRates.id),
  position: integer().notNull(),
  removed: boolean().notNull().default(false),
})

export const feeType = pgEnum('fee_type', ['percentage', 'fixed'])

/** Prices of rates, each valid until a time, or until its places are sold. */
export const prices = pgTable(
  'prices',
  {
    ...listedUnderRate(),
    name: text().notNull(),
    amount: minorUnits('amount').notNull(),
    currency: text().notNull(),
    validUntil: timestampMs('valid_until'),
    includes: text(),
    additionalInfo: text('additional_info'),
    feeType: feeType('fee_type').notNull().default('percentage'),
    /** Percentage of the price, or, for a fixed fee, an amount in minor units. */
    feeQuantity: numeric('fee_quantity', { precision: 15, scale: 4, mode: 'number' }).notNull().default(0),
  },
  (price) => [
    unique('prices_of_ticket_rates').on(price.id, price.ticketRateId),
    index('prices_listed').on(price.ticketRateId, price.removed, price.position, price.id),
    check('prices_not_negative', sql`${price.amount} >= 0 and ${price.feeQuantity} >= 0`),
  ],
)

/** Things that are sold along with a ticket, such as a drink. */
export const supplements = pgTable(
  'supplements',
  {
    ...listedUnderRate(),
    label: text().notNull(),
    description: text(),
    /** Number of items that a buyer of the supplement gets, such as 3 for three drinks. */
    productQuantity: integer('product_quantity').notNull().default(1),
    amount: minorUnits('amount').notNull(),
    currency: text().notNull(),
    hasFakePrice: boolean('has_fake_price').notNull().default(false),
    fakeAmount: minorUnits('fake_amount'),
  },
  (supplement) => [
    index('supplements_listed').on(
      supplement.ticketRateId,
      supplement.removed,
      supplement.position,
      supplement.id,
    ),
    check('supplements_not_negative', sql`${supplement.amount} >= 0 and ${supplement.productQuantity} >= 1`),
  ],
)

/** Types of a question: one of its options, free text, or `true` or `false`. */
export const questionTypes = ['dropdown', 'text', 'checkbox'] as const

/** Choice of a dropdown. Its `id` is unique, and stays when the label is mended. */
export type QuestionOption = { id: string; label: string }

/** Questions that each attendee is asked. */
export const questions = pgTable(
  'questions',
  {
    ...listedUnderRate(),
    label: text().notNull(),
    type: text({ enum: questionTypes }).notNull().default('dropdown'),
    required: boolean().notNull().default(false),
    options: jsonb().$type<QuestionOption[]>().notNull().default([]),
  },
  (question) => [
    index('questions_listed').on(question.ticketRateId, question.removed, question.position, question.id),
  ],
)

/** A rate and a price as in the catalogue, without stock counters. */
export type ListedRate = typeof ticketRates.$inferSelect
export type ListedPrice = typeof prices.$inferSelect
/** A rate and a price with their stock counters. */
export type TicketRate = ListedRate & Counters
export type Price = ListedPrice & Counters
export type Supplement = typeof supplements.$inferSelect
export type Question = typeof questions.$inferSelect
