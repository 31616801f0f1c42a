import { and, getTableColumns } from 'drizzle-orm'
import { anyOf, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { rowsOf } from '../rows.ts'
import { locations } from './table.ts'

const locationRows = rowsOf(getTableColumns(locations))

export const locationLoaders = (db: Database, scope: Scope) => ({
  locationById: loadOne(db, scope, {
    name: 'location_by_id',
    rows: locationRows,
    query: (select) =>
      select
        .from(locations)
        .where(and(anyOf(locations.id, 'keys'), anyOf(locations.organizationId, 'organizationIds'))),
    key: (location) => location.id,
  }),
})
