import { sql } from 'drizzle-orm'
import { foreignKey, index, pgEnum, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { dueColumns } from '../../data/leased-jobs.ts'
import { createdAt, timestampMs } from '../../database/columns.ts'
import { payments } from '../payment/table.ts'
import { tickets } from '../ticket/table.ts'

/** `transfer_notice` tells the former holder that the ticket was given to another person. */
export const deliveryKind = pgEnum('delivery_kind', ['tickets', 'transfer_notice'])
export const deliveryMedium = pgEnum('delivery_medium', ['email', 'whatsapp'])
/** `skipped`: there is nothing to send, because the medium is not enabled or the tickets were cancelled. */
export const deliveryStatus = pgEnum('delivery_status', ['pending', 'sent', 'skipped', 'dead'])

/** Job queue: the tickets of one checkout, to be sent to one recipient. */
export const deliveries = pgTable(
  'deliveries',
  {
    organizationId: text('organization_id').notNull(),
    id: text().notNull(),
    paymentId: text('payment_id').notNull(),
    kind: deliveryKind().notNull().default('tickets'),
    /** The only ticket to be sent; null for all tickets of the recipient. */
    ticketId: text('ticket_id'),
    /** Reason for sending again: unique text per transfer or repetition; empty for the tickets of a paid
     *  checkout, which are sent once. */
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
    foreignKey({
      name: 'deliveries_of_payments',
      columns: [delivery.organizationId, delivery.paymentId],
      foreignColumns: [payments.organizationId, payments.id],
    }),
    foreignKey({
      name: 'deliveries_of_tickets',
      columns: [delivery.organizationId, delivery.ticketId],
      foreignColumns: [tickets.organizationId, tickets.id],
    }),
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
    // A person's, to be exported or erased.
    index('deliveries_recipient').on(sql`lower(${delivery.recipient})`),
    index('deliveries_due').on(delivery.dueAt).where(sql`${delivery.status} = 'pending'`),
    index('deliveries_dead').on(delivery.createdAt).where(sql`${delivery.status} = 'dead'`),
  ],
)

export type Delivery = typeof deliveries.$inferSelect
