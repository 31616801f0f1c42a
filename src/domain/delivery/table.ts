import { sql } from 'drizzle-orm'
import { index, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { dueColumns } from '../../data/leased-jobs.ts'
import { createdAt, timestampMs } from '../../database/columns.ts'
import { payments } from '../payment/table.ts'

export const deliveryMedium = pgEnum('delivery_medium', ['email', 'whatsapp'])
/** `skipped`: there is nothing to send, because the medium is not enabled or the tickets were cancelled. */
export const deliveryStatus = pgEnum('delivery_status', ['pending', 'sent', 'skipped', 'dead'])

/** Job queue: the tickets of one checkout, to be sent to one recipient. */
export const deliveries = pgTable(
  'deliveries',
  {
    id: text().primaryKey(),
    paymentId: text('payment_id')
      .notNull()
      .references(() => payments.id),
    medium: deliveryMedium().notNull(),
    /** E-mail address or phone number, as on the tickets. */
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
