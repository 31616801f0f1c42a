import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  pgEnum,
  pgTable,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { channels } from '../access/table.ts'
import { organizations } from '../organization/table.ts'
import { ticketRates } from '../ticket-rate/table.ts'

export const paymentStatus = pgEnum('payment_status', [
  'pending',
  'processing',
  'paid',
  'failed',
  'expired',
  'cancelled',
  'partially_refunded',
  'refunded',
])

/** One checkout: the stock it holds until `expiresAt`, and what is to be paid for it. */
export const payments = pgTable(
  'payments',
  {
    id: text().primaryKey(),
    channelId: text('channel_id')
      .notNull()
      .references(() => channels.id),
    organizationId: text('organization_id')
      .notNull()
      .references(() => organizations.id),
    ticketRateId: text('ticket_rate_id')
      .notNull()
      .references(() => ticketRates.id),
    status: paymentStatus().notNull().default('pending'),
    provider: text().notNull(),
    totalAmount: bigint('total_amount', { mode: 'number' }).notNull(),
    currency: text().notNull(),
    conditionsChanged: boolean('conditions_changed').notNull().default(false),
    /** The unguessable part of the payment page's address: whoever has it may pay. */
    pageToken: text('page_token').notNull(),
    redirectUrl: text('redirect_url'),
    errorUrl: text('error_url'),
    sendResourcers: boolean('send_resourcers').notNull().default(false),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
    expiresAt: timestamp('expires_at', { withTimezone: true, precision: 3 }).notNull(),
    paidAt: timestamp('paid_at', { withTimezone: true, precision: 3 }),
  },
  (payment) => [
    uniqueIndex().on(payment.pageToken),
    // What the sweeper and a checkout that finds a rate full look for: holds whose time is over.
    index('payments_pending_expires_at').on(payment.expiresAt).where(sql`${payment.status} = 'pending'`),
    index('payments_pending_ticket_rate')
      .on(payment.ticketRateId, payment.expiresAt)
      .where(sql`${payment.status} = 'pending'`),
    check('payments_not_negative', sql`${payment.totalAmount} >= 0`),
  ],
)

/** A checkout that was asked for under an `Idempotency-Key`, kept for 24 hours (DECISIONS 4). */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** SHA-256 of the channel and its key. */
    id: text().primaryKey(),
    /** SHA-256 of the checkout that was asked for. */
    requestHash: text('request_hash').notNull(),
    paymentId: text('payment_id')
      .notNull()
      .references(() => payments.id),
    createdAt: timestamp('created_at', { withTimezone: true, precision: 3 }).notNull().defaultNow(),
  },
  (key) => [index().on(key.createdAt)],
)

export type Payment = typeof payments.$inferSelect

/** Whether a key still stands for its checkout. */
export const isFresh = sql`${idempotencyKeys.createdAt} > now() - interval '24 hours'`
