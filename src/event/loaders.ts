import { and, getTableColumns } from 'drizzle-orm'
import { anyOf, isIdentifier } from '../batch.ts'
import type { Named, Readers } from '../reader.ts'
import { revisedLoaders } from '../revised.ts'
import { rowsOf } from '../rows.ts'
import { type Event, events } from './table.ts'

const { searchWords: _, ...shown } = getTableColumns(events)

const eventById: Named<Event & { revision: string }> = {
  name: 'event_by_id',
  rows: rowsOf(shown),
  query: (select) =>
    select.from(events).where(and(anyOf(events.id, 'keys'), anyOf(events.organizationId, 'organizationIds'))),
}

const load = revisedLoaders<Event>(
  ({ rememberedEvents }) => rememberedEvents,
  () => 1,
)

export const eventLoaders = {
  eventById: ({ catalogue }: Readers) =>
    load(catalogue, async (keys) => {
      const rows = await catalogue.find(eventById, keys.filter(isIdentifier))
      return new Map(rows.map((event) => [event.id, { revision: event.revision, value: event }]))
    }),
}
