import { sql } from 'drizzle-orm'
import { index, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { dueColumns } from '../../data/leased-jobs.ts'
import { createdAt, timestampMs } from '../../database/columns.ts'
import { payments } from '../payment/table.ts'

export const deliveryMedium = pgEnum('delivery_medium', ['email', 'whatsapp'])
/** `skipped` is what there is nothing to do for: its medium is not enabled, or its tickets were cancelled. */
export const deliveryStatus = pgEnum('delivery_status', ['pending', 'sent', 'skipped', 'dead'])

/** The tickets of one checkout on their way to one person. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: text().primaryKey(),
    paymentId: text('payment_id')
      .notNull()
      .references(() => payments.id),
    medium: deliveryMedium().notNull(),
    /** An e-mail address or a phone number, as the tickets have it. */
    recipient: text().notNull(),
    status: deliveryStatus().notNull().default('pending'),
    ...dueColumns(),
    createdAt: createdAt(),
    sentAt: timestampMs('sent_at'),
  },
  (delivery) => [
    uniqueIndex('deliveries_once').on(delivery.paymentId, delivery.medium, delivery.recipient),
    index('deliveries_due').on(delivery.dueAt).where(sql`${delivery.status} = 'pending'`),
  ],
)

export type Delivery = typeof deliveries.$inferSelect
