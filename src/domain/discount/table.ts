import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, pgTable, text } from 'drizzle-orm/pg-core'
import { minorUnits, percentage, timestampMs } from '../../engine/database/columns.ts'
import { organizationId } from '../organization/table.ts'
import type { Counters } from '../stock/table.ts'

/** Discounts that a checkout can claim by their code. Their uses are counted in `stock`, under the same
 *  `id`. */
export const discounts = pgTable(
  'discounts',
  {
    id: text().primaryKey(),
    organizationId: organizationId(),
    position: integer().notNull(),
    /** Code that buyers type; its case does not matter. Unique among those of the organization that are not
     *  removed, which the import checks. */
    code: text().notNull(),
    name: text().notNull(),
    /** Percentage of the price; null if `amount` is set. */
    percentage: percentage('percentage'),
    /** Amount off the price, in minor units; null if `percentage` is set. */
    amount: minorUnits('amount'),
    currency: text().notNull(),
    /** Rates that it applies to; all of the organization if empty. */
    ticketRateIds: text('ticket_rate_ids').array().notNull().default([]),
    validFrom: timestampMs('valid_from'),
    validUntil: timestampMs('valid_until'),
    /** Maximum number of tickets per checkout that it applies to; null for no limit. */
    maxPerCheckout: integer('max_per_checkout'),
    removed: boolean().notNull().default(false),
  },
  (discount) => [
    index('discounts_listed')
      .on(discount.organizationId, discount.position, discount.id)
      .where(sql`not ${discount.removed}`),
    index('discounts_code').on(discount.organizationId, sql`lower(${discount.code})`),
    check('discounts_take_one_kind_off', sql`num_nonnulls(${discount.percentage}, ${discount.amount}) = 1`),
    check(
      'discounts_not_negative',
      sql`${discount.percentage} between 0 and 100 and ${discount.amount} >= 0 and ${discount.maxPerCheckout} >= 1`,
    ),
  ],
)

/** Discount as in the catalogue, without the counters of its uses. */
export type ListedDiscount = typeof discounts.$inferSelect
/** Discount with the counters of its uses. */
export type Discount = ListedDiscount & Counters
