import { and, getTableColumns } from 'drizzle-orm'
import { loadById } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf } from '../../data/query.ts'
import { type Location, locations } from './table.ts'

/** Loads locations of the organizations that the caller sees. */
export const locationById = loadById<Location>('catalogue', {
  name: 'location_by_id',
  rows: rowsOf(getTableColumns(locations)),
  query: (select, keys) =>
    select
      .from(locations)
      .where(and(anyOf(locations.id, keys), anyOf(locations.organizationId, 'organizationIds'))),
})
