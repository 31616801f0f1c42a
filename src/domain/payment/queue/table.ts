import { isNotNull } from 'drizzle-orm'
import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { dueColumns, isFailing } from '../../../engine/data/leased-jobs.ts'
import { timestampMs } from '../../../engine/database/columns.ts'
import { modeColumn } from '../../caller/table.ts'
import { isPaymentOf } from '../table.ts'

/** Unpaid payments by the end of their holds, a row for each price that they hold places at: a queue for those who look
 *  for overdue ones, so that no index of payments changes when one is paid. A row is a hint, and the payment decides. It
 *  is inserted with its payment, moved with the end of its hold, and deleted by the statement that pays or ends it. */
export const expiries = pgTable(
  'expiries',
  {
    organizationId: text('organization_id').notNull(),
    priceId: text('price_id').notNull(),
    mode: modeColumn(),
    paymentId: text('payment_id').notNull(),
    expiresAt: timestampMs('expires_at').notNull(),
    /** Discount of any of the tickets: a payment has one at most. */
    discountId: text('discount_id'),
  },
  (expiry) => [
    // Serves checkouts that find a rate or a price full, and, by the whole key, the payment itself.
    primaryKey({
      name: 'expiries_pk',
      columns: [expiry.priceId, expiry.mode, expiry.expiresAt, expiry.paymentId, expiry.organizationId],
    }),
    // Serves the sweeper.
    index().on(expiry.expiresAt),
    // Serves checkouts that find a discount used up.
    index('expiries_with_discount')
      .on(expiry.discountId, expiry.mode, expiry.expiresAt)
      .where(isNotNull(expiry.discountId)),
  ],
)

/** Provider sessions that may still lead to a charge: a queue for the job that closes them. A row is inserted
 *  with its session and deleted when the session has ended; `session_open` of the payment decides. No two payments have
 *  the same session. */
export const openSessions = pgTable(
  'open_sessions',
  {
    organizationId: text('organization_id').notNull(),
    provider: text().notNull(),
    sessionId: text('session_id').notNull(),
    paymentId: text('payment_id').notNull(),
    /** Of calls that failed since its last answer. It is due to be closed, or looked at again. */
    ...dueColumns(),
  },
  (session) => [
    primaryKey({ columns: [session.sessionId, session.provider, session.organizationId] }),
    index().on(session.provider, session.dueAt),
    index('open_sessions_failing').on(session.provider).where(isFailing(session)),
  ],
)

/** Condition that a payment is that of a queued end of a hold. */
export const isOfExpiry = isPaymentOf(expiries)

/** Condition that a payment is that of a queued session. */
export const isOfSession = isPaymentOf(openSessions)
