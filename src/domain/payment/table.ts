import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  foreignKey,
  index,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { channels } from '../../auth/table.ts'
import { nowMs } from '../../data/leased-jobs.ts'
import { createdAt, minorUnits, timestampMs } from '../../database/columns.ts'
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
    organizationId: text('organization_id').notNull(),
    ticketRateId: text('ticket_rate_id').notNull(),
    status: paymentStatus().notNull().default('pending'),
    provider: text().notNull(),
    totalAmount: minorUnits('total_amount').notNull(),
    currency: text().notNull(),
    conditionsChanged: boolean('conditions_changed').notNull().default(false),
    /** The unguessable part of the payment page's address: whoever has it may pay. */
    pageToken: text('page_token').notNull(),
    redirectUrl: text('redirect_url'),
    errorUrl: text('error_url'),
    sendResourcers: boolean('send_resourcers').notNull().default(false),
    /** What has been given back of it. Minor units. */
    refundedAmount: minorUnits('refunded_amount').notNull().default(0),
    invoiceReference: text('invoice_reference'),
    /** The provider's own place to pay it, and what the provider calls that; null until the buyer goes there. */
    sessionId: text('session_id'),
    sessionUrl: text('session_url'),
    /** Whether money may still come of it: the provider has not told how it ended. */
    sessionOpen: boolean('session_open').notNull().default(false),
    /** When an open session is to be ended, or asked about again. Whoever does so moves this on. */
    sessionDueAt: timestampMs('session_due_at'),
    /** When the provider was last asked because the buyer looked. */
    sessionAskedAt: timestampMs('session_asked_at'),
    createdAt: createdAt(),
    expiresAt: timestampMs('expires_at').notNull(),
    paidAt: timestampMs('paid_at'),
  },
  (payment) => [
    foreignKey({
      name: 'payments_of_the_organization_of_their_rate',
      columns: [payment.ticketRateId, payment.organizationId],
      foreignColumns: [ticketRates.id, ticketRates.organizationId],
    }),
    // What a ticket has to have in common with its payment.
    unique('payments_shared_with_tickets').on(
      payment.id,
      payment.organizationId,
      payment.channelId,
      payment.ticketRateId,
    ),
    uniqueIndex().on(payment.pageToken),
    // What the sweeper and a checkout that finds a rate full look for: holds whose time is over.
    index('payments_unpaid_expires_at')
      .on(payment.expiresAt)
      .where(sql`${payment.status} in ('pending', 'processing')`),
    index('payments_unpaid_ticket_rate')
      .on(payment.ticketRateId, payment.expiresAt)
      .where(sql`${payment.status} in ('pending', 'processing')`),
    uniqueIndex('payments_session')
      .on(payment.provider, payment.sessionId)
      .where(sql`${payment.sessionId} is not null`),
    // What is to be ended at the provider.
    index('payments_session_open').on(payment.sessionDueAt).where(sql`${payment.sessionOpen}`),
    check('payments_not_negative', sql`${payment.totalAmount} >= 0`),
    check(
      'payments_refund_no_more_than_was_paid',
      sql`${payment.refundedAmount} between 0 and ${payment.totalAmount}`,
    ),
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
    createdAt: createdAt(),
  },
  (key) => [index().on(key.createdAt)],
)

/** Money that a provider has taken for a payment: once as a rule, and whatever comes besides is given back. */
export const charges = pgTable(
  'charges',
  {
    id: text().primaryKey(),
    paymentId: text('payment_id')
      .notNull()
      .references(() => payments.id),
    provider: text().notNull(),
    /** What the provider calls it. */
    reference: text().notNull(),
    /** Minor units. */
    amount: minorUnits('amount').notNull(),
    currency: text().notNull(),
    createdAt: createdAt(),
  },
  (charge) => [
    uniqueIndex('charges_reference').on(charge.provider, charge.reference),
    index().on(charge.paymentId),
    check('charges_positive', sql`${charge.amount} > 0`),
  ],
)

/** The inbox: what a provider has told, written in the transaction of what it changed, so that it changes that once. */
export const providerEvents = pgTable(
  'provider_events',
  {
    provider: text().notNull(),
    /** What the provider calls it. */
    id: text().notNull(),
    type: text().notNull(),
    paymentId: text('payment_id').references(() => payments.id),
    createdAt: createdAt(),
  },
  (event) => [primaryKey({ columns: [event.provider, event.id] })],
)

export type Payment = typeof payments.$inferSelect
export type Charge = typeof charges.$inferSelect

/** Whether a key still stands for its checkout. */
export const isFresh = sql`${idempotencyKeys.createdAt} > ${nowMs} - interval '24 hours'`

/** Of an unpaid payment whose time is over, which is longer while its provider decides. The database's clock says so,
 *  never the process's. */
export const isOverdue = sql`${payments.status} in ('pending', 'processing') and ${payments.expiresAt} <= ${nowMs}`
