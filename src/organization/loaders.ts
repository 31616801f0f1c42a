import { and, getTableColumns } from 'drizzle-orm'
import { anyOf, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { rowsOf } from '../rows.ts'
import { organizations } from './table.ts'

const organizationRows = rowsOf(getTableColumns(organizations))

export const organizationLoaders = (db: Database, scope: Scope) => ({
  organizationById: loadOne(db, scope, {
    name: 'organization_by_id',
    rows: organizationRows,
    query: (select) =>
      select
        .from(organizations)
        .where(and(anyOf(organizations.id, 'keys'), anyOf(organizations.id, 'organizationIds'))),
    key: (organization) => organization.id,
  }),
})
