import { and, eq, sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  type PgColumn,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import { areOfOneOrganization, inOrganizationIfNamed } from '../../engine/data/query.ts'
import { nowMs } from '../../engine/database/clock.ts'
import {
  createdAt,
  describedEnum,
  minorUnits,
  organizationForeignKey,
  timestampMs,
} from '../../engine/database/columns.ts'
import { channelId, modeColumn } from '../caller/table.ts'
import { organizationId } from '../organization/table.ts'

/** Means of a payment that the organization took itself. */
export const paymentMethods = {
  CASH: 'Paid in cash.',
  CARD: "Paid by card, at the organization's own terminal.",
  OTHER: 'Paid by other means, such as a voucher.',
}
export const paymentMethod = describedEnum('payment_method', paymentMethods)

/** Statuses of a payment, and their meanings. */
export const paymentStatuses = {
  pending: 'Waiting for the buyer to pay. The tickets are held.',
  processing: 'The buyer has paid, and the provider is still deciding. The tickets are held.',
  paid: 'Paid. The tickets have been activated.',
  failed: 'The provider reported a failure. The tickets are no longer held.',
  expired: 'Not paid in time. The tickets are no longer held.',
  cancelled: 'Cancelled before payment. The tickets are no longer held.',
  partially_refunded: 'Paid, and refunded in part.',
  refunded: 'Refunded in full.',
}
export const paymentStatus = describedEnum('payment_status', paymentStatuses)

/** Payments of checkouts, whose rates their tickets name. An unpaid one holds stock until `expiresAt`. */
export const payments = pgTable(
  'payments',
  {
    id: text().notNull(),
    channelId: channelId(),
    organizationId: organizationId(),
    status: paymentStatus().notNull().default('pending'),
    provider: text().notNull(),
    mode: modeColumn(),
    totalAmount: minorUnits('total_amount').notNull(),
    currency: text().notNull(),
    conditionsChanged: boolean('conditions_changed').notNull().default(false),
    /** Unguessable part of the payment page's URL. Grants access to the page. */
    pageToken: text('page_token').notNull(),
    redirectUrl: text('redirect_url'),
    errorUrl: text('error_url'),
    sendTickets: boolean('send_tickets').notNull().default(false),
    /** ISO 639-1 code of the language that the checkout named; null if it named none. */
    language: text(),
    /** Means of payment at the box office; null elsewhere. */
    method: paymentMethod(),
    /** Reference that the box office gave the payment, such as the number of a receipt. */
    methodReference: text('method_reference'),
    /** Amount refunded so far, in minor units. */
    refundedAmount: minorUnits('refunded_amount').notNull().default(0),
    invoiceReference: text('invoice_reference'),
    /** Provider's identifier of the session that the buyer pays in; null until the buyer is sent there. */
    sessionId: text('session_id'),
    sessionUrl: text('session_url'),
    /** True while the session may still lead to a charge: the provider has not reported its end. */
    sessionOpen: boolean('session_open').notNull().default(false),
    /** Time of the last call to the provider for a buyer's page view. */
    sessionAskedAt: timestampMs('session_asked_at'),
    createdAt: createdAt(),
    expiresAt: timestampMs('expires_at').notNull(),
    paidAt: timestampMs('paid_at'),
  },
  (payment) => [
    primaryKey({ columns: [payment.id, payment.organizationId] }),
    // Target of the foreign key that makes these columns equal in a ticket and its payment.
    unique('payments_shared_with_tickets').on(payment.id, payment.organizationId, payment.channelId),
    // Nothing else that changes is in an index, nor in the predicate of one, so that updates are heap-only:
    // `expiries` and `open_sessions` are the queues of payments.
    check('payments_not_negative', sql`${payment.totalAmount} >= 0`),
    check(
      'payments_refund_no_more_than_was_paid',
      sql`${payment.refundedAmount} between 0 and ${payment.totalAmount}`,
    ),
  ],
)

/** Idempotency keys of completed checkouts and of tickets sent again, valid for 24 hours (DECISIONS, checkout;
 *  DECISIONS, holders). */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    organizationId: text('organization_id').notNull(),
    /** SHA-256 of the caller and its key. */
    id: text().notNull(),
    /** SHA-256 of the request. */
    requestHash: text('request_hash').notNull(),
    paymentId: text('payment_id').notNull(),
    createdAt: createdAt(),
  },
  (key) => [
    primaryKey({ columns: [key.id, key.organizationId] }),
    organizationForeignKey('idempotency_keys_of_payments', key, key.paymentId, payments),
    index().on(key.createdAt),
    index().on(key.paymentId),
  ],
)

/** Charges that a provider has made for payments: normally one each. Further ones are refunded. */
export const charges = pgTable(
  'charges',
  {
    organizationId: text('organization_id').notNull(),
    id: text().notNull(),
    paymentId: text('payment_id').notNull(),
    provider: text().notNull(),
    /** Provider's identifier of the charge. */
    reference: text().notNull(),
    /** Minor units. */
    amount: minorUnits('amount').notNull(),
    currency: text().notNull(),
    createdAt: createdAt(),
  },
  (charge) => [
    primaryKey({ columns: [charge.id, charge.organizationId] }),
    organizationForeignKey('charges_of_payments', charge, charge.paymentId, payments),
    uniqueIndex('charges_reference_of_organization').on(
      charge.provider,
      charge.reference,
      charge.organizationId,
    ),
    index().on(charge.paymentId),
    check('charges_positive', sql`${charge.amount} > 0`),
  ],
)

/** Inbox of provider events. Each is inserted in the transaction that applies it, so that it is applied
 *  once. */
export const providerEvents = pgTable(
  'provider_events',
  {
    organizationId: text('organization_id').notNull(),
    provider: text().notNull(),
    /** Provider's identifier of the event. */
    id: text().notNull(),
    type: text().notNull(),
    paymentId: text('payment_id'),
    createdAt: createdAt(),
  },
  (event) => [
    primaryKey({ columns: [event.provider, event.id, event.organizationId] }),
    organizationForeignKey('provider_events_of_payments', event, event.paymentId, payments),
    // Finds the rows that are to be deleted by age.
    index().on(event.organizationId, event.createdAt),
    index('provider_events_payment').on(event.paymentId).where(sql`${event.paymentId} is not null`),
  ],
)

export type Payment = typeof payments.$inferSelect

/** Payment with the rate of its tickets, which all have the same one, because a checkout names one. */
export type PaymentOfRate = Payment & { ticketRateId: string }

/** Rate of a payment's tickets, for a statement of `query`. */
export const rateOfPayment = sql<string>`(select ticket_rate_id from tickets
  where ${inOrganizationIfNamed(sql`tickets.organization_id`)} and tickets.organization_id = payments.organization_id
    and tickets.payment_id = payments.id and position = 0)`

export type Charge = typeof charges.$inferSelect

/** Condition that a payment is that of a row which names one. */
export const isPaymentOf = (row: Record<'organizationId' | 'paymentId', PgColumn>) =>
  and(areOfOneOrganization(payments.organizationId, row.organizationId), eq(payments.id, row.paymentId))

/** Matches idempotency keys that are still valid. */
export const isFresh = sql`${idempotencyKeys.createdAt} > ${nowMs} - interval '24 hours'`

/** Matches unpaid payments, which hold places. */
export const isHolding = sql`${payments.status} in ('pending', 'processing')`

/** Matches unpaid payments whose `expiresAt` has passed, by the database's clock, never by the process's. A
 *  payment that is `processing` has a later one. */
export const isOverdue = sql`${isHolding} and ${payments.expiresAt} <= ${nowMs}`
