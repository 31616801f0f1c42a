import { numeric, pgTable, text } from 'drizzle-orm/pg-core'

export const organizations = pgTable('organizations', {
  id: text().primaryKey(),
  name: text().notNull(),
  slug: text().notNull(),
  currency: text().notNull(),
  platformFeePercentage: numeric('platform_fee_percentage', { precision: 7, scale: 4, mode: 'number' })
    .notNull()
    .default(0),
})

export type Organization = typeof organizations.$inferSelect
