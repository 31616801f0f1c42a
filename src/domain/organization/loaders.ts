import { and, asc, getTableColumns, sql } from 'drizzle-orm'
import { loadById } from '../../data/batch-loader.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, query } from '../../data/query.ts'
import { type Organization, organizations } from './table.ts'

/** Loads organizations that the caller sees. */
export const organizationById = loadById<Organization>('catalogue', {
  name: 'organization_by_id',
  rows: rowsOf(getTableColumns(organizations)),
  query: (select, keys) =>
    select
      .from(organizations)
      .where(and(anyOf(organizations.id, keys), anyOf(organizations.id, 'organizationIds'))),
})

/** Lists the organizations among `organizationIds`, ordered by id: those after `after`, at most `limit`. */
export const listOrganizations = query('organizations', {
  rows: rowsOf(getTableColumns(organizations)),
  query: (select) =>
    select
      .from(organizations)
      .where(
        and(
          anyOf(organizations.id, 'organizationIds'),
          sql`${organizations.id} > ${sql.placeholder('after')}::text`,
        ),
      )
      .orderBy(asc(organizations.id))
      .limit(sql.placeholder('limit')),
})
