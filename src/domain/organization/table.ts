import { pgTable, text } from 'drizzle-orm/pg-core'
import { percentage } from '../../database/columns.ts'

export const organizations = pgTable('organizations', {
  id: text().primaryKey(),
  name: text().notNull(),
  slug: text().notNull(),
  currency: text().notNull(),
  platformFeePercentage: percentage('platform_fee_percentage').notNull().default(0),
})

/** Column of what belongs to an organization. */
export const organizationId = () =>
  text('organization_id')
    .notNull()
    .references(() => organizations.id)

export type Organization = typeof organizations.$inferSelect
