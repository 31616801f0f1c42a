import { and, getTableColumns } from 'drizzle-orm'
import type { NamedFind, Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf } from '../../data/prepared.ts'
import { versionedLoaders } from '../../data/versioned-loader.ts'
import { isIdentifier } from '../../shared/ids.ts'
import { type Event, events } from './table.ts'

const { searchWords: _, ...shown } = getTableColumns(events)

const byId: NamedFind<Event & { revision: string }> = {
  name: 'event_by_id',
  rows: rowsOf(shown),
  query: (select, keys) =>
    select.from(events).where(and(anyOf(events.id, keys), anyOf(events.organizationId, 'organizationIds'))),
}

const load = versionedLoaders<Event>(
  ({ rememberedEvents }) => rememberedEvents,
  () => 1,
)

/** Loads events of the organizations that the caller sees. */
export const eventById = ({ catalogue }: Readers) =>
  load(catalogue, async (keys) => {
    const rows = await catalogue.find(byId, keys.filter(isIdentifier))
    return new Map(rows.map((event) => [event.id, { revision: event.revision, value: event }]))
  })
