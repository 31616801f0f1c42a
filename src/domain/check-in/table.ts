import { boolean, index, pgEnum, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
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

/** Scans at the door and their results, kept so that a repeated nonce returns the first result. */
export const checkIns = pgTable(
  'check_ins',
  {
    integrationId: text('integration_id')
      .notNull()
      .references(() => integrations.id),
    /** Idempotency key, chosen by the scanner. */
    nonce: text().notNull(),
    /** SHA-256 of the input. */
    requestHash: text('request_hash').notNull(),
    /** Null if no ticket was found. */
    ticketId: text('ticket_id').references(() => tickets.id),
    direction: checkInDirection().notNull(),
    force: boolean().notNull(),
    result: checkInResult().notNull(),
    /** Time of the scan, by the scanner's clock. */
    at: timestampMs('at').notNull(),
    /** First entry with the ticket before this scan, if any. */
    firstEnteredAt: timestampMs('first_entered_at'),
    createdAt: createdAt(),
  },
  (checkIn) => [
    primaryKey({ columns: [checkIn.integrationId, checkIn.nonce] }),
    index().on(checkIn.ticketId, checkIn.createdAt),
  ],
)

export type CheckIn = typeof checkIns.$inferSelect
