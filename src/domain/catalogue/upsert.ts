import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'
import { list, name } from '../../data/array-params.ts'
import type { Connection } from '../../database/database.ts'
import { instruments } from '../../shared/instruments.ts'

/** Counts of an import, for objects of one kind. */
export type Tally = { added: number; updated: number; unchanged: number; removed: number }

const batchSize = 5_000

/** Inserts a row for each item, or updates the row with the same key; an unchanged row is not written.
 *  Writes only the columns that `rowOf` returns. Rows are sent as one JSON parameter, because PostgreSQL
 *  takes at most 65,535 parameters, and building a statement of that many is slower than running it. Rows are
 *  built batch by batch: building all at once would take memory, and leave the transaction idle meanwhile.
 *  Null in a column of `kept` leaves the value as it is, and is the column's default in a new row. */
export async function upsert<
  Table extends PgTable,
  Column extends keyof Table['$inferSelect'] & string,
  Item,
  Kept extends Column = never,
>(
  tx: Connection,
  table: Table,
  items: Item[],
  rowOf: (item: Item) => Pick<Table['$inferSelect'], Exclude<Column, Kept>> & {
    [Name in Kept]: Table['$inferSelect'][Name] | null
  },
  kept: Kept[] = [],
): Promise<Tally> {
  const total = { added: 0, updated: 0, unchanged: items.length, removed: 0 }
  for (let start = 0; start < items.length; start += batchSize) {
    const rows = items.slice(start, start + batchSize).map(rowOf)
    const { added, updated } = await upsertBatch(tx, table, rows, kept)
    total.added += added
    total.updated += updated
    total.unchanged -= added + updated
    instruments.progress?.(getTableName(table), start + rows.length, items.length)
  }
  return total
}

async function upsertBatch(tx: Connection, table: PgTable, rows: Record<string, unknown>[], kept: string[]) {
  const given = Object.entries(getTableColumns(table)).filter(([key]) => key in (rows[0] ?? {}))
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
  const storedValue = ([key, column]: [string, PgColumn]) =>
    kept.includes(key)
      ? sql`coalesce(given.${name(key)}, existing.${name(column.name)}, ${column.default ?? null})`
      : sql`given.${name(key)}`
  const written = tx.$with('written', { added: sql<boolean>`added`.as('added') }).as(sql`
    insert into ${table} as old (${list(columns.map(name))})
    select ${list(given.map(storedValue))}
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given(${list(types)})
    ${kept.length > 0 ? sql`left join ${table} as existing on existing.id = given.id` : sql``}
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
  return counts ?? { added: 0, updated: 0 }
}
