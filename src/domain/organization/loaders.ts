import { and, getTableColumns } from 'drizzle-orm'
import { type Batch, loadOne, type Readers } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf } from '../../data/prepared.ts'
import { type Organization, organizations } from './table.ts'

const byId: Batch<Organization> = {
  name: 'organization_by_id',
  rows: rowsOf(getTableColumns(organizations)),
  query: (select, keys) =>
    select
      .from(organizations)
      .where(and(anyOf(organizations.id, keys), anyOf(organizations.id, 'organizationIds'))),
  key: ({ id }) => id,
}

/** Loads organizations that the caller sees. */
export const organizationById = ({ catalogue }: Readers) => loadOne(catalogue, byId)
