import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { modeColumn } from '../../../auth/table.ts'
import { timestampMs } from '../../../database/columns.ts'

/** Tickets that have been paid, in the orders of their payment and of their last change: lists walk these two
 *  indexes. They are here, because a ticket that changes would otherwise write all of its own (`listChanged`). */
export const soldTickets = pgTable(
  'sold_tickets',
  {
    organizationId: text('organization_id').notNull(),
    mode: modeColumn(),
    channelId: text('channel_id').notNull(),
    ticketId: text('ticket_id').notNull(),
    /** `activatedAt` of the ticket, which never changes again. */
    paidAt: timestampMs('paid_at').notNull(),
    /** `updatedAt` of the ticket. */
    updatedAt: timestampMs('updated_at').notNull(),
  },
  (sold) => [
    primaryKey({
      name: 'sold_tickets_paid',
      columns: [sold.organizationId, sold.mode, sold.channelId, sold.paidAt, sold.ticketId],
    }),
    index('sold_tickets_updated').on(
      sold.organizationId,
      sold.mode,
      sold.channelId,
      sold.updatedAt,
      sold.ticketId,
    ),
  ],
)
