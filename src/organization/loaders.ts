import { and } from 'drizzle-orm'
import { anyOf, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { organizations } from './table.ts'

export const organizationLoaders = (db: Database, scope: Scope) => ({
  organizationById: loadOne(db, scope, {
    name: 'organization_by_id',
    query: (db) =>
      db
        .select()
        .from(organizations)
        .where(and(anyOf(organizations.id, 'keys'), anyOf(organizations.id, 'organizationIds'))),
    key: (organization) => organization.id,
  }),
})
