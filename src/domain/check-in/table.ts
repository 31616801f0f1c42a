import { and, eq, sql } from 'drizzle-orm'
import {
  boolean,
  check,
  foreignKey,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
} from 'drizzle-orm/pg-core'
import { integrations } from '../../auth/table.ts'
import { createdAt, timestampMs } from '../../database/columns.ts'
import { tickets } from '../ticket/table.ts'

export const checkInResult = pgEnum('check_in_result', [
  'OK',
  'ALREADY_ENTERED',
  'NOT_INSIDE',
  'UNPAID',
  'CANCELLED',
  'WRONG_EVENT',
  'TOO_EARLY',
  'UNKNOWN',
])
export const checkInDirection = pgEnum('check_in_direction', ['in', 'out'])

// Columns of every scan, at the door and at the bar.
const scanColumns = () => ({
  organizationId: text('organization_id').notNull(),
  integrationId: text('integration_id')
    .notNull()
    .references(() => integrations.id),
  /** Idempotency key, chosen by the scanner. */
  nonce: text().notNull(),
  /** SHA-256 of the input. */
  requestHash: text('request_hash').notNull(),
  /** Null if no ticket was found. */
  ticketId: text('ticket_id'),
  createdAt: createdAt(),
})

/** Scans at the door and their results, kept so that a repeated nonce returns the first result. */
export const checkIns = pgTable(
  'check_ins',
  {
    ...scanColumns(),
    direction: checkInDirection().notNull(),
    force: boolean().notNull(),
    /** Number of people who enter or leave. */
    people: integer().notNull().default(1),
    result: checkInResult().notNull(),
    /** Time of the scan, by the scanner's clock. */
    at: timestampMs('at').notNull(),
    /** First entry with the ticket before this scan, if any. */
    firstEnteredAt: timestampMs('first_entered_at'),
  },
  (checkIn) => [
    primaryKey({ columns: [checkIn.integrationId, checkIn.nonce, checkIn.organizationId] }),
    foreignKey({
      name: 'check_ins_of_tickets',
      columns: [checkIn.organizationId, checkIn.ticketId],
      foreignColumns: [tickets.organizationId, tickets.id],
    }),
    index().on(checkIn.ticketId, checkIn.createdAt),
    // For those that are deleted by age.
    index().on(checkIn.organizationId, checkIn.createdAt),
  ],
)

export const redemptionResult = pgEnum('redemption_result', [
  'OK',
  'USED_UP',
  'NOT_BOUGHT',
  'UNPAID',
  'CANCELLED',
  'UNKNOWN',
])

/** Supplements handed out at the bar, kept so that a repeated nonce returns the first result. */
export const redemptions = pgTable(
  'redemptions',
  {
    ...scanColumns(),
    supplementId: text('supplement_id').notNull(),
    result: redemptionResult().notNull(),
    /** Number of items handed out by this call. */
    redeemed: integer().notNull(),
    /** Number of items left afterwards. */
    left: integer().notNull(),
  },
  (redemption) => [
    primaryKey({ columns: [redemption.organizationId, redemption.integrationId, redemption.nonce] }),
    foreignKey({
      name: 'redemptions_of_tickets',
      columns: [redemption.organizationId, redemption.ticketId],
      foreignColumns: [tickets.organizationId, tickets.id],
    }),
    index().on(redemption.ticketId, redemption.createdAt),
    check('redemptions_not_negative', sql`${redemption.redeemed} >= 0 and ${redemption.left} >= 0`),
  ],
)

/** Condition that a ticket is that of a check-in. */
export const isOfCheckIn = and(
  eq(tickets.organizationId, checkIns.organizationId),
  eq(tickets.id, checkIns.ticketId),
)

export type CheckIn = typeof checkIns.$inferSelect
export type Redemption = typeof redemptions.$inferSelect
