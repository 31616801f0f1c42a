import { and, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Batch, NamedFind } from './batch-loader.ts'
import { coalesceReads } from './coalesce.ts'
import type { Rows } from './json-rows.ts'
import { anyOf, inOrganization, isOwn, query } from './query.ts'

/** Creates a coalesced read of the organizations of rows by one of their columns: a narrow statement that every
 *  server of a distributed database is asked, and that tells where the rest is. Checks no permissions. */
export function organizationsBy(name: string, column: PgColumn, organizationId: PgColumn) {
  const find = query<{ key: string; id: string }>(
    name,
    () =>
      sql`select ${column} as key, ${organizationId} as id from ${column.table} where ${anyOf(column, 'keys')}`,
  )
  return coalesceReads<string>(async (db, keys) => {
    const found = await find(db, { keys })
    return new Map(found.map(({ key, id }) => [key, id]))
  })
}

type SoldTable = PgTable & Record<'organizationId' | 'channelId' | 'mode', PgColumn>

/** Rows of sales by a column. All rows of a key are of one organization. */
type Sold<Row> = {
  name: string
  rows: Rows<Row>
  table: SoldTable
  column: PgColumn
  order?: SQL[]
  key: (row: Row) => string
}

/** Creates a batch of the caller's own rows of a table of sales. */
export function soldBatch<Row>({ name, rows, table, column, order = [], key }: Sold<Row>): Batch<Row> {
  const findWhere = (name: string, condition?: SQL): NamedFind<Row> => ({
    ...{ name, rows },
    query: (select, keys) =>
      select
        .from(table as PgTable)
        .where(and(condition, anyOf(column, keys), isOwn(table)))
        .orderBy(...order),
  })
  const { organizationId } = table
  return {
    ...findWhere(name),
    key,
    place: {
      find: findWhere(`${name}_of_organization`, inOrganization(organizationId)),
      organizationOf: organizationsBy(`organization_of_${name}`, column, organizationId),
    },
  }
}
