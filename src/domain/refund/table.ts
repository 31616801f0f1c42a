import { sql } from 'drizzle-orm'
import { check, index, pgEnum, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { channels } from '../../auth/table.ts'
import { dueColumns } from '../../data/leased-jobs.ts'
import { createdAt, minorUnits, timestampMs } from '../../database/columns.ts'
import { organizations } from '../organization/table.ts'
import { charges, payments } from '../payment/table.ts'
import { tickets } from '../ticket/table.ts'

export const refundStatus = pgEnum('refund_status', ['pending', 'succeeded', 'failed'])

/** Why money goes back: somebody asked for it, the warranty of a ticket says so, or it came when it could not be taken
 *  any more: too late and without a place left, after the checkout was cancelled, or a second time; or its amount or
 *  currency is not that of the payment. */
export const refundReason = pgEnum('refund_reason', [
  'REQUESTED',
  'WARRANTY',
  'LATE_NO_CAPACITY',
  'CANCELLED',
  'PAID_TWICE',
  'AMOUNT_MISMATCH',
])

/** One attempt to give money back. */
export const refunds = pgTable(
  'refunds',
  {
    id: text().primaryKey(),
    paymentId: text('payment_id')
      .notNull()
      .references(() => payments.id),
    /** The money that it is taken from. */
    chargeId: text('charge_id')
      .notNull()
      .references(() => charges.id),
    /** Null for money that no ticket was given for. */
    ticketId: text('ticket_id').references(() => tickets.id),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    channelId: text('channel_id')
      .notNull()
      .references(() => channels.id),
    reason: refundReason().notNull(),
    status: refundStatus().notNull().default('pending'),
    /** Minor units. */
    amount: minorUnits('amount').notNull(),
    currency: text().notNull(),
    /** SHA-256 of the caller and the key that it was asked for under. */
    idempotencyKey: text('idempotency_key'),
    /** SHA-256 of what was asked for under it. */
    requestHash: text('request_hash'),
    /** What the provider calls it. */
    reference: text(),
    ...dueColumns(),
    createdAt: createdAt(),
    succeededAt: timestampMs('succeeded_at'),
  },
  (refund) => [
    index().on(refund.paymentId),
    index().on(refund.ticketId),
    // What a provider tells of by its own name.
    index().on(refund.reference),
    uniqueIndex('refunds_idempotency_key').on(refund.idempotencyKey),
    index('refunds_due').on(refund.dueAt).where(sql`${refund.status} = 'pending'`),
    check('refunds_positive', sql`${refund.amount} > 0`),
  ],
)

export type Refund = typeof refunds.$inferSelect
