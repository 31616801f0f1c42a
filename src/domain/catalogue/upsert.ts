import { getTableColumns, sql } from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'
import type { Connection } from '../../database/database.ts'

/** Counts of an import, for objects of one kind. */
export type Tally = { added: number; updated: number; unchanged: number; removed: number }

const batchSize = 5_000

/** Inserts a row for each item, or updates the row with the same `id`; an unchanged row is not written.
 *  Writes only the columns that `rowOf` returns. Rows are sent as one JSON parameter, because PostgreSQL
 *  takes at most 65,535 parameters, and building a statement of that many is slower than running it. Rows are
 *  built batch by batch: building all at once would take memory, and leave the transaction idle meanwhile. */
export async function upsert<
  Table extends PgTable,
  Column extends keyof Table['$inferSelect'] & string,
  Item,
>(
  tx: Connection,
  table: Table,
  items: Item[],
  rowOf: (item: Item) => Pick<Table['$inferSelect'], Column>,
): Promise<Tally> {
  const total = { added: 0, updated: 0, unchanged: items.length, removed: 0 }
  for (let start = 0; start < items.length; start += batchSize) {
    const { added, updated } = await upsertBatch(tx, table, items.slice(start, start + batchSize).map(rowOf))
    total.added += added
    total.updated += updated
    total.unchanged -= added + updated
  }
  return total
}

async function upsertBatch(tx: Connection, table: PgTable, rows: Record<string, unknown>[]) {
  const columns = getTableColumns(table)
  const rowColumns = Object.keys(rows[0] ?? {}).flatMap((key) => columns[key] ?? [])
  const byColumn = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [columns[key]?.name, value])),
  )
  // A row never changes its parent. Setting a key column, even to its current value, would lock the row
  // against sales that refer to it.
  const keys = getTableConfig(table).uniqueConstraints.flatMap(({ columns }) =>
    columns.map(({ name }) => name),
  )
  const changing = rowColumns.filter(({ name }) => name !== 'id' && !keys.includes(name))
  const names = (columns: PgColumn[], prefix = '') =>
    sql.join(
      columns.map(({ name }) => sql`${sql.raw(prefix)}${sql.identifier(name)}`),
      sql`, `,
    )
  const types = rowColumns.map(
    (column) => sql`${sql.identifier(column.name)} ${sql.raw(column.getSQLType())}`,
  )
  const changes = changing.map(({ name }) => sql`${sql.identifier(name)} = excluded.${sql.identifier(name)}`)
  const written = tx.$with('written', { added: sql<boolean>`added`.as('added') }).as(sql`
    insert into ${table} as old (${names(rowColumns)})
    select ${names(rowColumns)} from json_to_recordset(${JSON.stringify(byColumn)}::text::json) as given(${sql.join(types, sql`, `)})
    on conflict (id) do update set ${sql.join(changes, sql`, `)}
    where (${names(changing, 'old.')}) is distinct from (${names(changing, 'excluded.')})
    returning xmax = 0 as added`)
  const [counts] = await tx
    .with(written)
    .select({
      added: sql`count(*) filter (where added)`.mapWith(Number),
      updated: sql`count(*) filter (where not added)`.mapWith(Number),
    })
    .from(written)
  return counts ?? { added: 0, updated: 0 }
}
