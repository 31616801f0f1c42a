import { and, getTableColumns } from 'drizzle-orm'
import { anyOf } from '../batch.ts'
import { type Batch, loadOne, type Readers } from '../reader.ts'
import { rowsOf } from '../rows.ts'
import { type Location, locations } from './table.ts'

const locationById: Batch<Location> = {
  name: 'location_by_id',
  rows: rowsOf(getTableColumns(locations)),
  query: (select) =>
    select
      .from(locations)
      .where(and(anyOf(locations.id, 'keys'), anyOf(locations.organizationId, 'organizationIds'))),
  key: ({ id }) => id,
}

export const locationLoaders = {
  locationById: ({ catalogue }: Readers) => loadOne(catalogue, locationById),
}
