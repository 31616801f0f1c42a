import { sql } from 'drizzle-orm'
import {
  boolean,
  check,
  index,
  integer,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
} from 'drizzle-orm/pg-core'
import {
  createdAt,
  describedEnum,
  organizationForeignKey,
  timestampMs,
} from '../../engine/database/columns.ts'
import { integrations, modeColumn } from '../caller/table.ts'
import { tickets } from '../ticket/table.ts'

/** Outcomes of a scan, and their meanings. */
export const checkInOutcomes = {
  OK: 'Admitted, or counted out.',
  NO_ENTRIES_LEFT:
    'The ticket admits no more people, or fewer than the scan lets in: see `inside` and `admits`.',
  NOT_INSIDE: 'Fewer people are inside than leave.',
  UNPAID: 'The ticket was never paid, or has expired.',
  CANCELLED: 'The ticket was cancelled.',
  WRONG_EVENT: 'The ticket is for another event.',
  TOO_EARLY: 'The doors are not open yet.',
  NOT_FOUND: 'No ticket of the organization matches.',
}
export const checkInOutcome = describedEnum('check_in_outcome', checkInOutcomes)
export const checkInDirection = pgEnum('check_in_direction', ['in', 'out'])

// Columns of every scan, at the door and at the bar.
const scanColumns = () => ({
  organizationId: text('organization_id').notNull(),
  integrationId: text('integration_id')
    .notNull()
    .references(() => integrations.id),
  /** Chosen by the scanner. */
  idempotencyKey: text('idempotency_key').notNull(),
  /** SHA-256 of the input. */
  requestHash: text('request_hash').notNull(),
  /** Null if no ticket was found. */
  ticketId: text('ticket_id'),
  createdAt: createdAt(),
})

/** Scans at the door and their outcomes, kept so that a repeated key returns the first one. */
export const checkIns = pgTable(
  'check_ins',
  {
    id: text().notNull(),
    ...scanColumns(),
    mode: modeColumn(),
    /** Event at the door, whatever the scanner named it. */
    eventId: text('event_id').notNull(),
    direction: checkInDirection().notNull(),
    forced: boolean().notNull(),
    /** Number of people who enter or leave. */
    people: integer().notNull().default(1),
    outcome: checkInOutcome().notNull(),
    /** Time of the scan, by the scanner's clock. */
    scannedAt: timestampMs('scanned_at').notNull(),
    /** First entry with the ticket before this scan, if any. */
    firstEnteredAt: timestampMs('first_entered_at'),
    /** Number of people inside with the ticket after this scan; null if no ticket was found, like the next one. */
    inside: integer(),
    /** Number of people that the ticket admits. */
    admits: integer(),
    /** True if the doors were not open yet. */
    isEarly: boolean('is_early').notNull().default(false),
  },
  (checkIn) => [
    primaryKey({ columns: [checkIn.id, checkIn.organizationId] }),
    unique('check_ins_once').on(checkIn.integrationId, checkIn.idempotencyKey, checkIn.organizationId),
    organizationForeignKey('check_ins_of_tickets', checkIn, checkIn.ticketId, tickets),
    index().on(checkIn.ticketId, checkIn.createdAt, checkIn.id),
    index('check_ins_of_event').on(checkIn.eventId, checkIn.mode, checkIn.createdAt, checkIn.id),
    // Finds the rows that are to be deleted by age.
    index().on(checkIn.organizationId, checkIn.createdAt),
  ],
)

/** Outcomes of a redemption, and their meanings. */
export const redemptionOutcomes = {
  OK: 'The items are to be handed out.',
  USED_UP: 'Fewer items are left than were asked for. None was redeemed.',
  NOT_BOUGHT: 'The supplement was not bought with the ticket.',
  WRONG_EVENT: 'The ticket is for another event.',
  UNPAID: 'The ticket was never paid, or has expired.',
  CANCELLED: 'The ticket was cancelled.',
  NOT_FOUND: 'No ticket of the organization matches.',
}
export const redemptionOutcome = describedEnum('redemption_outcome', redemptionOutcomes)

/** Supplements handed out at the bar, kept so that a repeated key returns the first outcome. */
export const redemptions = pgTable(
  'redemptions',
  {
    ...scanColumns(),
    supplementId: text('supplement_id').notNull(),
    outcome: redemptionOutcome().notNull(),
    /** Number of items handed out by this call. */
    redeemed: integer().notNull(),
    /** Number of items left afterwards. */
    left: integer().notNull(),
  },
  (redemption) => [
    primaryKey({ columns: [redemption.organizationId, redemption.integrationId, redemption.idempotencyKey] }),
    organizationForeignKey('redemptions_of_tickets', redemption, redemption.ticketId, tickets),
    index().on(redemption.ticketId, redemption.createdAt),
    check('redemptions_not_negative', sql`${redemption.redeemed} >= 0 and ${redemption.left} >= 0`),
  ],
)

export type CheckIn = typeof checkIns.$inferSelect
export type Redemption = typeof redemptions.$inferSelect
