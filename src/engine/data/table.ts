import { pgTable, text } from 'drizzle-orm/pg-core'
import { timestampMs } from '../database/columns.ts'

/** Roles that one process has at a time, with the one that has it. */
export const leaders = pgTable('leaders', {
  role: text().primaryKey(),
  /** Random name of the process. */
  holder: text().notNull(),
  /** End of its lease. Then any process may take over. */
  expiresAt: timestampMs('expires_at').notNull(),
})
