import { getTableColumns, sql } from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'
import type { Connection } from '../../database/database.ts'

/** What became of things of one kind. */
export type Tally = { added: number; updated: number; unchanged: number; removed: number }

const rowsAtOnce = 5_000

/** Inserts a row for each item, or updates the one that has its `id` already; one that says nothing new is not written.
 *  Only the columns that `rowOf` names are. Rows go as one JSON parameter, because PostgreSQL takes no more than 65,535
 *  parameters, and building a statement of so many is slower than running it. They are made as they are needed: all of
 *  them at once take time that the transaction stands idle, and memory. */
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
  for (let start = 0; start < items.length; start += rowsAtOnce) {
    const { added, updated } = await upsertAtOnce(
      tx,
      table,
      items.slice(start, start + rowsAtOnce).map(rowOf),
    )
    total.added += added
    total.updated += updated
    total.unchanged -= added + updated
  }
  return total
}

async function upsertAtOnce(tx: Connection, table: PgTable, rows: Record<string, unknown>[]) {
  const columns = getTableColumns(table)
  const named = Object.keys(rows[0] ?? {}).flatMap((key) => columns[key] ?? [])
  const byColumn = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([key, value]) => [columns[key]?.name, value])),
  )
  // What a row belongs to never changes. To set a key, though to what it is already, would lock the row against the
  // sales that refer to it.
  const keys = getTableConfig(table).uniqueConstraints.flatMap(({ columns }) =>
    columns.map(({ name }) => name),
  )
  const changing = named.filter(({ name }) => name !== 'id' && !keys.includes(name))
  const names = (columns: PgColumn[], prefix = '') =>
    sql.join(
      columns.map(({ name }) => sql`${sql.raw(prefix)}${sql.identifier(name)}`),
      sql`, `,
    )
  const types = named.map((column) => sql`${sql.identifier(column.name)} ${sql.raw(column.getSQLType())}`)
  const changes = changing.map(({ name }) => sql`${sql.identifier(name)} = excluded.${sql.identifier(name)}`)
  const written = tx.$with('written', { added: sql<boolean>`added`.as('added') }).as(sql`
    insert into ${table} as old (${names(named)})
    select ${names(named)} from json_to_recordset(${JSON.stringify(byColumn)}::text::json) as given(${sql.join(types, sql`, `)})
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
