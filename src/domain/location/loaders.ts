import { getTableColumns } from 'drizzle-orm'
import { loadById } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf } from '../../data/query.ts'
import { type Location, locations } from './table.ts'

/** Loads locations that a visible row leads to. What a caller names goes through `node`. */
export const locationById = loadById<Location>('catalogue', {
  name: 'location_by_id',
  rows: rowsOf(getTableColumns(locations)),
  query: (select, keys) => select.from(locations).where(anyOf(locations.id, keys)),
})
