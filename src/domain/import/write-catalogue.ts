import { getTableColumns, getTableName, sql } from 'drizzle-orm'
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core'
import { byId } from '../../engine/base/group-by.ts'
import { instruments } from '../../engine/base/instruments.ts'
import { arrayRows, joinList, quoteName } from '../../engine/data/array-params.ts'
import { type Connection, runSql } from '../../engine/database/database.ts'
import { channels } from '../caller/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { stock } from '../stock/table.ts'
import * as rows from './catalogue-rows.ts'
import { currenciesOf } from './check-catalogue.ts'
import { children, type Existing, type ExistingChild, isOneOf } from './find-existing.ts'
import { type ImportReport, noteRemoval, noteRow } from './import-report.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'

/** Counts of an import, for objects of one kind. */
export type ImportCounts = { added: number; updated: number; unchanged: number; removed: number }

const batchSize = 5_000

/** Inserts or updates the rows of items batch by batch: building all at once would take memory, and leave the
 *  transaction idle. */
export async function writeRows<Table extends PgTable, Item>(
  tx: Connection,
  table: Table,
  items: Item[],
  rowsOf: (batch: Item[]) => RowsOf<Table> | Promise<RowsOf<Table>>,
): Promise<ImportCounts> {
  const total = { added: 0, updated: 0 }
  for (let start = 0; start < items.length; start += batchSize) {
    const batch = items.slice(start, start + batchSize)
    for (const { added } of await upsert(tx, table, await rowsOf(batch))) total[added ? 'added' : 'updated']++
    instruments.progress?.(getTableName(table), start + batch.length, items.length)
  }
  return { ...total, unchanged: items.length - total.added - total.updated, removed: 0 }
}

type RowsOf<Table extends PgTable> = Partial<Table['$inferSelect']>[]

/** Inserts rows, or updates those with the same keys; an unchanged row is not written. Returns which of those written
 *  were added. Writes only the columns that the first row has. */
async function upsert<Table extends PgTable>(tx: Connection, table: Table, rows: RowsOf<Table>) {
  const [first] = rows
  if (!first) return []
  const given = Object.entries(getTableColumns(table)).filter(([key]) => key in first)
  const columns = given.map(([, column]) => column.name)
  // A row never changes its parent. Setting a key column, even to its current value, would lock the row
  // against sales that refer to it.
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

const tables = { organizations, locations, events, ...children }
type Tables = typeof tables
type Table = Tables[keyof Tables]
type ChildKey = keyof typeof children
type Row = Record<string, unknown>

// Tables are named by the plural of what is in them.
const kindOf = (table: Table) => getTableName(table).replace('_', ' ').replace(/s$/, '')

/** Completes a row by what is kept of it, else by the defaults of its columns. */
const complete = (table: Table, patch: Row, kept: Row | undefined): Row =>
  Object.fromEntries(
    Object.entries(getTableColumns(table) as Record<string, PgColumn>).flatMap(([key, column]) => {
      if (!(key in patch)) return []
      const given = patch[key] === undefined && kept ? kept[key] : patch[key]
      return [[key, given ?? (column.notNull || !kept ? column.default : null) ?? null]]
    }),
  )

/** Writes the objects of a checked file, and removes from sale what its lists no longer name. What an object of
 *  the file does not say stays as it is. */
export async function writeCatalogue(
  tx: Connection,
  catalogue: Catalogue,
  existing: Existing,
  report: ImportReport,
) {
  const currencies = currenciesOf(catalogue, existing)

  // Marks rows instead of deleting them, because sold tickets may refer to them.
  async function markRemoved(key: ChildKey, parents: Entry<unknown>[]): Promise<number> {
    const table: (typeof children)[ChildKey] = children[key]
    const unlisted = findUnlisted(existing[key], catalogue[key], parents)
    if (unlisted.length === 0) return 0
    const named = 'label' in table ? table.label : table.name
    const removed = await tx
      .update(table)
      .set({ removed: true })
      .where(isOneOf(table.id, unlisted))
      .returning({ id: table.id, name: named })
    const counted = await tx.select().from(stock).where(isOneOf(stock.id, unlisted))
    const used = new Map(counted.map(({ id, sold, held }) => [id, sold + held]))
    for (const { id, name } of removed)
      noteRemoval(report, { kind: kindOf(table), id, name }, used.get(id) ?? 0)
    return unlisted.length
  }

  // Writes objects, and removes from sale what is no longer listed under these parents.
  async function write<Key extends keyof Tables>(
    key: Key,
    rowOf: (
      entry: Catalogue[Key][number],
      kept: Tables[Key]['$inferSelect'] | undefined,
      currency: string,
    ) => { [Column in keyof Tables[Key]['$inferSelect']]?: unknown },
    parents: Entry<unknown>[] = [],
    entries: Catalogue[Key][number][] = catalogue[key],
  ): Promise<ImportCounts> {
    const table: Table = tables[key]
    const written = await writeRows(tx, table, entries, async (batch) => {
      const again = batch.filter(({ id }) => existing[key].has(id))
      const found = again.length > 0 ? await tx.select().from(table).where(isOneOf(table.id, again)) : []
      const kept = byId(found)
      return batch.map((entry) => {
        const before = kept.get(entry.id)
        // After the checks, every entry has a known organization.
        const currency = currencies.get(entry.organizationId) ?? ''
        const row = complete(table, rowOf(entry, before as Tables[Key]['$inferSelect'], currency), before)
        noteRow(report, { kind: kindOf(table), id: entry.id, name: entry.key }, before, row)
        return row
      })
    })
    return key in children ? { ...written, removed: await markRemoved(key as ChildKey, parents) } : written
  }

  const { events, ticketRates: rates, organizations } = catalogue
  const eventsWithRates = events.filter(({ input }) => input.ticket_rates)
  const withAllPrices = rates.filter(({ input }) => input.prices && input.show_all_prices !== false)
  const withSupplements = rates.filter(({ input }) => input.supplements)
  const withQuestions = rates.filter(({ input }) => input.questions)
  const withDiscounts = organizations.filter(({ input }) => input.discounts)
  await upsert(tx, channels, organizations.map(rows.ownChannelRow))
  return {
    organizations: await write('organizations', rows.organizationRow),
    discounts: await write('discounts', rows.discountRow, withDiscounts),
    locations: await write('locations', rows.locationRow),
    events: await write('events', rows.eventRow),
    ticketRates: await write('ticketRates', rows.ticketRateRow, eventsWithRates),
    prices: await write('prices', rows.priceRow, withAllPrices, pricesWithPositions(catalogue, existing)),
    supplements: await write('supplements', rows.supplementRow, withSupplements),
    questions: await write('questions', rows.questionRow, withQuestions),
  }
}

/** Finds rows that are on sale under one of these parents but not in the file. */
function findUnlisted(known: Map<string, ExistingChild>, named: Entry<unknown>[], parents: Entry<unknown>[]) {
  const ids = new Set(named.map(({ id }) => id))
  const parentIds = new Set(parents.map(({ id }) => id))
  return [...known.values()].filter(
    ({ id, parentId, removed }) => !removed && parentIds.has(parentId) && !ids.has(id),
  )
}

/** Assigns positions to prices. A list that shows only the current price leaves the others on sale: existing
 *  prices keep their positions, and new ones come after them. */
function pricesWithPositions({ prices, ticketRates }: Catalogue, existing: Existing): Catalogue['prices'] {
  const partial = ticketRates.filter(({ input }) => input.show_all_prices === false)
  const kept = new Set(findUnlisted(existing.prices, prices, partial).map(({ parentId }) => parentId))
  const lastOf = new Map<string, number>()
  for (const { parentId, position } of existing.prices.values())
    if (kept.has(parentId)) lastOf.set(parentId, Math.max(lastOf.get(parentId) ?? 0, position))
  return prices.map((price) => {
    const last = lastOf.get(price.parentId)
    if (last === undefined) return price
    return { ...price, position: existing.prices.get(price.id)?.position ?? last + 1 + price.position }
  })
}
