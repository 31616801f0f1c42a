import { and } from 'drizzle-orm'
import { anyOf, loadOne, type Scope } from '../batch.ts'
import type { Database } from '../database.ts'
import { locations } from './table.ts'

export const locationLoaders = (db: Database, scope: Scope) => ({
  locationById: loadOne(db, scope, {
    name: 'location_by_id',
    query: (db) =>
      db
        .select()
        .from(locations)
        .where(and(anyOf(locations.id, 'keys'), anyOf(locations.organizationId, 'organizationIds'))),
    key: (location) => location.id,
  }),
})
