import { and, getTableColumns } from 'drizzle-orm'
import { anyOf, isIdentifier } from '../batch.ts'
import type { Named, Reader } from '../reader.ts'
import { type Revisions, revisedLoaders } from '../revised.ts'
import { rowsOf } from '../rows.ts'
import { type Event, events } from './table.ts'

const { searchWords: _, ...shown } = getTableColumns(events)

const eventById: Named<Event & { revision: string }> = {
  name: 'event_by_id',
  rows: rowsOf(shown),
  query: (select) =>
    select.from(events).where(and(anyOf(events.id, 'keys'), anyOf(events.organizationId, 'organizationIds'))),
}

const load = revisedLoaders<Event>(() => 1)

/** `revisions` holds those of the events that the caller sees, as far as they are known. */
export const eventLoaders = (reader: Reader, revisions: Revisions) => ({
  eventById: load(reader.db, reader.rememberedEvents, revisions, async (keys) => {
    const rows = await reader.find(eventById, keys.filter(isIdentifier))
    return new Map(rows.map((event) => [event.id, { revision: event.revision, value: event }]))
  }),
})
