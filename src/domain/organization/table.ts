import { pgTable, text } from 'drizzle-orm/pg-core'
import { percentage } from '../../database/columns.ts'

export const organizations = pgTable('organizations', {
  id: text().primaryKey(),
  name: text().notNull(),
  slug: text().notNull(),
  currency: text().notNull(),
  platformFeePercentage: percentage('platform_fee_percentage').notNull().default(0),
})

export type Organization = typeof organizations.$inferSelect
