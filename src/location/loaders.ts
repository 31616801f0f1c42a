import { and, getTableColumns } from 'drizzle-orm'
import { anyOf } from '../batch.ts'
import { loadOne, type Reader } from '../reader.ts'
import { rowsOf } from '../rows.ts'
import { locations } from './table.ts'

const locationRows = rowsOf(getTableColumns(locations))

export const locationLoaders = (reader: Reader) => ({
  locationById: loadOne(reader, {
    name: 'location_by_id',
    rows: locationRows,
    query: (select) =>
      select
        .from(locations)
        .where(and(anyOf(locations.id, 'keys'), anyOf(locations.organizationId, 'organizationIds'))),
    key: (location) => location.id,
  }),
})
