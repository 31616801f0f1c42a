import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { dueColumns } from '../../engine/data/leased-jobs.ts'
import { timestampMs } from '../../engine/database/columns.ts'
import { events } from '../event/table.ts'
import { organizationId } from '../organization/table.ts'

/** Turns of retention, an organization each. Whoever claims one moves it an hour on: a lease, so that another
 *  process takes over if that one dies. */
export const retentionTurns = pgTable('retention_turns', {
  organizationId: organizationId().primaryKey(),
  ...dueColumns(),
})

/** Events whose attendees are anonymized, so that their tickets are not looked at again. */
export const anonymizedEvents = pgTable(
  'anonymized_events',
  {
    organizationId: organizationId(),
    eventId: text('event_id')
      .notNull()
      .references(() => events.id),
    /** End of the event at that time: an event that was moved to a later date is looked at again. */
    endDate: timestampMs('end_date').notNull(),
  },
  (event) => [primaryKey({ columns: [event.organizationId, event.eventId] })],
)
