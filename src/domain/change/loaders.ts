import { and, getTableColumns, isNull, or, sql } from 'drizzle-orm'
import { loadById } from '../../engine/data/batch-loader.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import { anyOf } from '../../engine/data/query.ts'
import { isInMode, isOwn } from '../caller/sale-rows.ts'
import { channelOrganizations } from '../caller/table.ts'
import { type Change, changes } from './table.ts'

// The key of the table begins with it.
const isOfReached = sql`${changes.organizationId} in (
  select unnest(${sql.placeholder('ownOrganizationIds')}::text[])
  union all select ${channelOrganizations.organizationId} from ${channelOrganizations}
    where ${channelOrganizations.channelId} = ${sql.placeholder('channelId')})`
const ofAll = and(isNull(changes.channelId), anyOf(changes.organizationId, 'organizationIds'))

/** Loads changes that the caller's feed has: of its own sales, or of stock that it sees. */
export const changeById = loadById<Change>('own', {
  name: 'change_by_id',
  rows: rowsOf(getTableColumns(changes)),
  query: (select, keys) =>
    select
      .from(changes)
      .where(
        and(anyOf(changes.id, keys), isOfReached, or(isOwn(changes), and(ofAll, isInMode(changes.mode)))),
      ),
})
