// Rows of what is sold: whose they are, and how they are found.

import { and, type SQL, sql } from 'drizzle-orm'
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Batch } from '../../engine/data/batch-loader.ts'
import { organizationsBy } from '../../engine/data/by-organization.ts'
import { anyOf, inOrganizationIfNamed, textArrayParam, unindexed } from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { organizationNumberOf } from '../contract/ids.ts'

/** Condition that a payment, a ticket or a refund is the caller's own: a channel's, even if its grant was
 *  revoked, or one of an integration's organization; and of the caller's mode. */
export const isOwn = (row: { channelId: PgColumn; organizationId: PgColumn; mode: PgColumn }): SQL =>
  sql`((${unindexed(row.channelId)} = ${sql.placeholder('channelId')}
      or ${unindexed(row.organizationId)} = any(${textArrayParam('ownOrganizationIds')}))
    and ${unindexed(row.mode)} = ${sql.placeholder('mode')})`

/** Condition that a row is of the caller's mode. */
export const isInMode = (mode: PgColumn): SQL => sql`${mode} = ${sql.placeholder('mode')}::text::key_mode`

const organizationOfNumber = organizationsBy(
  'organization_of_number',
  () =>
    sql`select number::text as key, id from organizations where number = any(${textArrayParam('keys')}::integer[])`,
)

/** Finds the organization of something sold by the number in its identifier, without a question to any server. */
export async function organizationOfSold(db: Database, id: string): Promise<string | null> {
  const number = organizationNumberOf(id)
  return number === null ? null : organizationOfNumber(db, String(number))
}

type SoldTable = PgTable & Record<'organizationId' | 'channelId' | 'mode', PgColumn>

/** Rows of sales by a column. All rows of a key are of one organization. */
type Sold<Row> = Pick<Batch<Row>, 'name' | 'rows' | 'key'> & {
  table: SoldTable
  column: PgColumn
  order?: SQL[]
}

/** Creates a batch of the caller's own rows of a table of sales. */
export const soldBatch = <Row>({ table, column, order = [], ...batch }: Sold<Row>): Batch<Row> => ({
  ...batch,
  query: (select, keys) =>
    select
      .from(table as PgTable)
      .where(and(inOrganizationIfNamed(table.organizationId), anyOf(column, keys), isOwn(table)))
      .orderBy(...order),
  organizationOf: organizationOfSold,
})
