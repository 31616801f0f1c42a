import { and, eq, sql } from 'drizzle-orm'
import { check, index, pgEnum, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { dueColumns, isFailing } from '../../engine/data/leased-jobs.ts'
import {
  createdAt,
  describedEnum,
  minorUnits,
  organizationForeignKey,
  timestampMs,
} from '../../engine/database/columns.ts'
import { channelId, modeColumn } from '../caller/table.ts'
import { organizationId } from '../organization/table.ts'
import { charges, payments } from '../payment/table.ts'
import { tickets } from '../ticket/table.ts'

export const refundStatus = pgEnum('refund_status', ['pending', 'succeeded', 'failed'])

/** Reasons for a refund, and their meanings. Automatic ones are of money that pays for no ticket. */
export const refundReasons = {
  REQUESTED: 'Requested by an integration.',
  WARRANTY: 'The ticket was returned under its warranty.',
  AT_PROVIDER: 'Made at the payment provider, such as in its dashboard.',
  LATE_NO_CAPACITY: 'Automatic: the money arrived after the hold expired, and too few places were left.',
  PAID_AFTER_CANCELLATION: 'Automatic: the money arrived after the checkout was cancelled.',
  PAID_TWICE: 'Automatic: the payment was already paid.',
  AMOUNT_MISMATCH: 'Automatic: the amount or the currency differ from those of the payment.',
}
export const refundReason = describedEnum('refund_reason', refundReasons)

/** Refunds, pending, succeeded or failed. A pending one is a job of `processDueRefunds`. */
export const refunds = pgTable(
  'refunds',
  {
    id: text().notNull(),
    paymentId: text('payment_id').notNull(),
    /** Charge that the amount is taken from. */
    chargeId: text('charge_id').notNull(),
    /** Refunded ticket; null if the charge bought none. */
    ticketId: text('ticket_id'),
    organizationId: organizationId(),
    channelId: channelId(),
    mode: modeColumn(),
    reason: refundReason().notNull(),
    status: refundStatus().notNull().default('pending'),
    /** Minor units. */
    amount: minorUnits('amount').notNull(),
    currency: text().notNull(),
    /** SHA-256 of the caller and its idempotency key. */
    idempotencyKey: text('idempotency_key'),
    /** SHA-256 of the request under that key. */
    requestHash: text('request_hash'),
    /** Provider's identifier of the refund. */
    reference: text(),
    ...dueColumns(),
    createdAt: createdAt(),
    succeededAt: timestampMs('succeeded_at'),
  },
  (refund) => [
    primaryKey({ columns: [refund.id, refund.organizationId] }),
    organizationForeignKey('refunds_of_payments', refund, refund.paymentId, payments),
    organizationForeignKey('refunds_of_charges', refund, refund.chargeId, charges),
    organizationForeignKey('refunds_of_tickets', refund, refund.ticketId, tickets),
    index().on(refund.paymentId),
    index().on(refund.ticketId),
    uniqueIndex('refunds_idempotency_key_of_organization').on(refund.idempotencyKey, refund.organizationId),
    index('refunds_due').on(refund.organizationId, refund.dueAt).where(sql`${refund.status} = 'pending'`),
    index('refunds_failing')
      .on(refund.dueAt)
      .where(sql`${refund.status} = 'pending' and ${isFailing(refund)}`),
    // Money that a person has to give back.
    index('refunds_failed').on(refund.createdAt).where(sql`${refund.status} = 'failed'`),
    check('refunds_positive', sql`${refund.amount} > 0`),
  ],
)

export type RefundAttempt = typeof refunds.$inferSelect

/** Condition that matches a refund by its primary key. */
export const isRefund = ({ id, organizationId }: Pick<RefundAttempt, 'id' | 'organizationId'>) =>
  and(eq(refunds.organizationId, organizationId), eq(refunds.id, id))
