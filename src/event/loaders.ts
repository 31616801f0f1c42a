import { and, getTableColumns } from 'drizzle-orm'
import { anyOf, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { rowsOf } from '../rows.ts'
import { events } from './table.ts'

const { searchWords: _, ...shown } = getTableColumns(events)
/** The rows of Event: all but what only a search reads. */
export const eventRows = rowsOf(shown)

export const eventLoaders = (db: Database, scope: Scope) => ({
  eventById: loadOne(db, scope, {
    name: 'event_by_id',
    rows: eventRows,
    query: (select) =>
      select
        .from(events)
        .where(and(anyOf(events.id, 'keys'), anyOf(events.organizationId, 'organizationIds'))),
    key: (event) => event.id,
  }),
})
