import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { percentage } from '../../engine/database/columns.ts'

/** Organizations that sell tickets, each in one currency. */
export const organizations = pgTable('organizations', {
  id: text().primaryKey(),
  /** Number in the identifiers of what it sells. */
  number: integer().notNull().unique().generatedAlwaysAsIdentity(),
  name: text().notNull(),
  slug: text().notNull(),
  currency: text().notNull(),
  /** Decimals that its amounts are stored with, written once (DECISIONS 58). */
  decimals: integer().notNull(),
  /** ISO 639-1 code of the language that buyers are addressed in unless their checkout names another. */
  language: text().notNull().default('en'),
  platformFeePercentage: percentage('platform_fee_percentage').notNull().default(0),
})

/** Column of what belongs to an organization. */
export const organizationId = () =>
  text('organization_id')
    .notNull()
    .references(() => organizations.id)

export type Organization = typeof organizations.$inferSelect
