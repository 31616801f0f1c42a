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

/** One scan at the door, and what it was answered: the same nonce is answered the same again. */
export const checkIns = pgTable(
  'check_ins',
  {
    integrationId: text('integration_id')
      .notNull()
      .references(() => integrations.id),
    /** The scanner's own name for the scan. */
    nonce: text().notNull(),
    /** SHA-256 of what was asked. */
    requestHash: text('request_hash').notNull(),
    /** Null where no ticket was found. */
    ticketId: text('ticket_id').references(() => tickets.id),
    direction: checkInDirection().notNull(),
    force: boolean().notNull(),
    result: checkInResult().notNull(),
    /** When it was scanned, as the scanner says. */
    at: timestampMs('at').notNull(),
    /** When the ticket was first let in, where it had been before. */
    firstEnteredAt: timestampMs('first_entered_at'),
    createdAt: createdAt(),
  },
  (checkIn) => [
    primaryKey({ columns: [checkIn.integrationId, checkIn.nonce] }),
    index().on(checkIn.ticketId, checkIn.createdAt),
  ],
)

export type CheckIn = typeof checkIns.$inferSelect
