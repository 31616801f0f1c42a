import { and, getTableColumns } from 'drizzle-orm'
import { anyOf } from '../batch.ts'
import { loadOne, type Reader } from '../reader.ts'
import { rowsOf } from '../rows.ts'
import { organizations } from './table.ts'

const organizationRows = rowsOf(getTableColumns(organizations))

export const organizationLoaders = (reader: Reader) => ({
  organizationById: loadOne(reader, {
    name: 'organization_by_id',
    rows: organizationRows,
    query: (select) =>
      select
        .from(organizations)
        .where(and(anyOf(organizations.id, 'keys'), anyOf(organizations.id, 'organizationIds'))),
    key: (organization) => organization.id,
  }),
})
