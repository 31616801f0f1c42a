import { getTableColumns, sql } from 'drizzle-orm'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import { list, name } from '../../data/array-params.ts'
import type { Connection } from '../../database/database.ts'
import { instruments } from '../../shared/instruments.ts'

/** Counts of an import, for objects of one kind. */
export type Tally = { added: number; updated: number; unchanged: number; removed: number }

const batchSize = 5_000

/** Writes items of a table batch by batch: building all rows at once would take memory, and leave the transaction
 *  idle. */
export async function inBatches<Item>(
  table: string,
  items: Item[],
  write: (batch: Item[]) => Promise<Tally>,
): Promise<Tally> {
  const total = { added: 0, updated: 0, unchanged: 0, removed: 0 }
  for (let start = 0; start < items.length; start += batchSize) {
    const { added, updated, unchanged } = await write(items.slice(start, start + batchSize))
    total.added += added
    total.updated += updated
    total.unchanged += unchanged
    instruments.progress?.(table, Math.min(start + batchSize, items.length), items.length)
  }
  return total
}

/** Inserts rows, or updates those with the same keys; an unchanged row is not written. Writes only the columns
 *  that the first row has. Rows are sent as one JSON parameter, because PostgreSQL takes at most 65,535
 *  parameters, and building a statement of that many is slower than running it. */
export async function upsert<Table extends PgTable>(
  tx: Connection,
  table: Table,
  rows: Partial<Table['$inferSelect']>[],
): Promise<Tally> {
  const [first] = rows
  if (!first) return { added: 0, updated: 0, unchanged: 0, removed: 0 }
  const given = Object.entries(getTableColumns(table)).filter(([key]) => key in first)
  const types = given.map(([key, column]) => sql`${name(key)} ${sql.raw(column.getSQLType())}`)
  const columns = given.map(([, column]) => column.name)
  // A row never changes its parent. Setting a key column, even to its current value, would lock the row
  // against sales that refer to it.
  const { primaryKeys, uniqueConstraints } = getTableConfig(table)
  const primary = primaryKeys[0]?.columns.map(({ name }) => name) ?? ['id']
  const keys = uniqueConstraints.flatMap((unique) => unique.columns.map(({ name }) => name))
  const changing = columns.filter((column) => !primary.includes(column) && !keys.includes(column))
  const changes = changing.map((column) => sql`${name(column)} = excluded.${name(column)}`)
  const changingOf = (row: 'old' | 'excluded') =>
    list(changing.map((column) => sql`${sql.raw(row)}.${name(column)}`))
  const written = tx.$with('written', { added: sql<boolean>`added`.as('added') }).as(sql`
    insert into ${table} as old (${list(columns.map(name))})
    select ${list(given.map(([key]) => name(key)))}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given(${list(types)})
    on conflict (${list(primary.map(name))}) do update set ${list(changes)}
    where (${changingOf('old')}) is distinct from (${changingOf('excluded')})
    returning xmax = 0 as added`)
  const [counts] = await tx
    .with(written)
    .select({
      added: sql`count(*) filter (where added)`.mapWith(Number),
      updated: sql`count(*) filter (where not added)`.mapWith(Number),
    })
    .from(written)
  const { added, updated } = counts ?? { added: 0, updated: 0 }
  return { added, updated, unchanged: rows.length - added - updated, removed: 0 }
}
