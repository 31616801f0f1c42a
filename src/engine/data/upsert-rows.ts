import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import { instruments } from '../base/instruments.ts'
import { type Connection, runSql } from '../database/database.ts'
import { arrayRows, joinList, quoteName } from './array-params.ts'

const batchSize = 5_000

/** Inserts or updates the rows of items batch by batch: building all at once would take memory, and leave the
 *  transaction idle. An unchanged row is not written. */
export async function upsertRows<Table extends PgTable, Item>(
  tx: Connection,
  table: Table,
  items: Item[],
  rowsOf: (batch: Item[]) => RowsOf<Table> | Promise<RowsOf<Table>>,
): Promise<{ added: number; updated: number; unchanged: number }> {
  const total = { added: 0, updated: 0 }
  for (let start = 0; start < items.length; start += batchSize) {
    const batch = items.slice(start, start + batchSize)
    for (const { added } of await upsert(tx, table, await rowsOf(batch))) total[added ? 'added' : 'updated']++
    instruments.progress?.(getTableName(table), start + batch.length, items.length)
  }
  return { ...total, unchanged: items.length - total.added - total.updated }
}

type RowsOf<Table extends PgTable> = Partial<Table['$inferSelect']>[]

/** Inserts rows, or updates those with the same keys; an unchanged row is not written. Returns which of those written
 *  were added. Writes only the columns that the first row has. */
async function upsert<Table extends PgTable>(tx: Connection, table: Table, rows: RowsOf<Table>) {
  const [first = {}] = rows
  const given = Object.entries(getTableColumns(table)).filter(([key]) => key in first)
  const columns = given.map(([, column]) => column.name)
  // A row never changes its parent. Setting a key column, even to its current value, would lock the row
  // against what refers to it.
  const { primaryKeys, uniqueConstraints } = getTableConfig(table)
  const primary = primaryKeys[0]?.columns.map(({ name }) => name) ?? ['id']
  const keys = uniqueConstraints.flatMap((unique) => unique.columns.map(({ name }) => name))
  const changing = columns.filter((column) => !primary.includes(column) && !keys.includes(column))
  const changes = changing.map((column) => sql`${quoteName(column)} = excluded.${quoteName(column)}`)
  const changingOf = (row: 'old' | 'excluded') =>
    joinList(changing.map((column) => sql`${sql.raw(row)}.${quoteName(column)}`))
  return runSql<{ added: boolean }>(
    tx,
    sql`
      insert into ${table} as old (${joinList(columns.map(quoteName))})
      select ${joinList(given.map(([key]) => quoteName(key)))}
      from ${arrayRows('given', Object.fromEntries(given)).holding(rows)}
      on conflict (${joinList(primary.map(quoteName))}) do update set ${joinList(changes)}
      where (${changingOf('old')}) is distinct from (${changingOf('excluded')})
      returning xmax = 0 as added`,
  )
}
