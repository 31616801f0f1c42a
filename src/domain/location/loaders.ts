import { and, getTableColumns } from 'drizzle-orm'
import { type Batch, loadOne, type Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf } from '../../data/query.ts'
import { type Location, locations } from './table.ts'

const byId: Batch<Location> = {
  name: 'location_by_id',
  rows: rowsOf(getTableColumns(locations)),
  query: (select, keys) =>
    select
      .from(locations)
      .where(and(anyOf(locations.id, keys), anyOf(locations.organizationId, 'organizationIds'))),
  key: ({ id }) => id,
}

/** Loads locations of the organizations that the caller sees. */
export const locationById = ({ catalogue }: Readers) => loadOne(catalogue, byId)
