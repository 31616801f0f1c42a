import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  index,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { dueColumns, isFailing } from '../../engine/data/leased-jobs.ts'
import { createdAt, organizationForeignKey, timestampMs } from '../../engine/database/columns.ts'
import type { FormerDates } from '../event/table.ts'
import { payments } from '../payment/table.ts'
import { tickets } from '../ticket/table.ts'

export const deliveryMedium = pgEnum('delivery_medium', ['email', 'whatsapp'])
/** `skipped`: there is nothing to send, because the medium is not enabled or the tickets were cancelled. */
export const deliveryStatus = pgEnum('delivery_status', ['pending', 'sent', 'skipped', 'dead'])

/** Notice that a mail gives of a ticket instead of sending it; `transfer` tells a former attendee that it was given to
 *  another person. Without `language`, it is the checkout's. `amount` is what goes back to the recipient, in minor units,
 *  `byHand` from the organization itself. */
export type Notice = {
  about: 'transfer' | 'refund' | 'cancellation' | 'date'
  language?: string | null
  amount?: number
  byHand?: boolean
  former?: FormerDates | null
}

/** Condition that a delivery counts against `MAILS_PER_HOUR`, and goes after the paid tickets, which don't. */
export const isBounded = ({ occasion }: Record<'occasion', AnyPgColumn>) => sql`(${occasion} <> '')`

/** Job queue: tickets of one payment, or a notice about them, to be sent to one recipient. */
export const deliveries = pgTable(
  'deliveries',
  {
    organizationId: text('organization_id').notNull(),
    id: text().notNull(),
    paymentId: text('payment_id').notNull(),
    /** Null if the tickets themselves are sent. */
    notice: jsonb().$type<Notice>(),
    /** The only ticket to be sent; null for all tickets of the recipient. */
    ticketId: text('ticket_id'),
    /** Reason for sending: unique text per transfer, repetition or notice; `free` for the tickets of a checkout
     *  that cost nothing, `public` if by a publishable key; empty for those that were paid. */
    occasion: text().notNull().default(''),
    medium: deliveryMedium().notNull(),
    /** E-mail address or phone number, as on the tickets. */
    recipient: text().notNull(),
    status: deliveryStatus().notNull().default('pending'),
    ...dueColumns(),
    createdAt: createdAt(),
    sentAt: timestampMs('sent_at'),
  },
  (delivery) => [
    primaryKey({ columns: [delivery.id, delivery.organizationId] }),
    organizationForeignKey('deliveries_of_payments', delivery, delivery.paymentId, payments),
    organizationForeignKey('deliveries_of_tickets', delivery, delivery.ticketId, tickets),
    uniqueIndex('deliveries_once').on(
      delivery.paymentId,
      delivery.medium,
      delivery.recipient,
      delivery.occasion,
      delivery.organizationId,
    ),
    index('deliveries_of_ticket')
      .on(delivery.ticketId, delivery.createdAt)
      .where(sql`${delivery.ticketId} is not null`),
    // Finds a person's deliveries, which may be exported or erased.
    index('deliveries_recipient').on(sql`lower(${delivery.recipient})`),
    // Counts the mails of the last hour that were not for paid tickets.
    index('deliveries_bounded')
      .on(delivery.organizationId, delivery.sentAt)
      .where(sql`${delivery.occasion} <> ''`),
    index('deliveries_due')
      .on(delivery.organizationId, isBounded(delivery), delivery.dueAt)
      .where(sql`${delivery.status} = 'pending'`),
    index('deliveries_failing')
      .on(delivery.dueAt)
      .where(sql`${delivery.status} = 'pending' and ${isFailing(delivery)}`),
    index('deliveries_dead').on(delivery.createdAt).where(sql`${delivery.status} = 'dead'`),
  ],
)

export type Delivery = typeof deliveries.$inferSelect
