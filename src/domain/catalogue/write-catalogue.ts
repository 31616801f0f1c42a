import { getTableColumns, getTableName } from 'drizzle-orm'
import type { PgColumn } from 'drizzle-orm/pg-core'
import { channels } from '../../auth/table.ts'
import type { Connection } from '../../database/database.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, stock, supplements, ticketRates } from '../ticket-rate/table.ts'
import * as rows from './catalogue-rows.ts'
import { noteRemoval, noteRow, type Report } from './changes.ts'
import { currenciesOf } from './check-catalogue.ts'
import { among, type ChildTable, type Existing, type ExistingChild } from './find-existing.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'
import { inBatches, type Tally, upsert } from './upsert.ts'

type Table = ChildTable | typeof organizations | typeof locations | typeof events
type Row = Record<string, unknown>

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
  report: Report,
) {
  const currencies = currenciesOf(catalogue, existing)

  function write<Of extends Table, Input>(
    kind: string,
    table: Of,
    entries: Entry<Input>[],
    rowOf: (
      entry: Entry<Input>,
      kept: Of['$inferSelect'] | undefined,
      currency: string,
    ) => { [Column in keyof Of['$inferSelect']]?: unknown },
  ): Promise<Tally> {
    return inBatches(getTableName(table), entries, async (batch) => {
      const found: Row[] = await tx
        .select()
        .from(table as Table)
        .where(among(table.id, batch))
      const kept = new Map(found.map((row) => [row.id, row]))
      const rows = batch.map((entry) => {
        const before = kept.get(entry.id)
        // After the checks, every entry has a known organization.
        const patch = rowOf(entry, before as Of['$inferSelect'], currencies.get(entry.organizationId) ?? '')
        const row = complete(table, patch, before)
        noteRow(report, { kind, id: entry.id, name: entry.key }, before, row)
        return row
      })
      return upsert(tx, table as Table, rows)
    })
  }

  // Marks rows instead of deleting them, because sold tickets may refer to them.
  async function markRemoved(kind: string, table: ChildTable, ...lists: Parameters<typeof findUnlisted>) {
    const unlisted = findUnlisted(...lists)
    if (unlisted.length === 0) return { removed: 0 }
    const named = 'label' in table ? table.label : table.name
    const removed = await tx
      .update(table)
      .set({ removed: true })
      .where(among(table.id, unlisted))
      .returning({ id: table.id, name: named })
    const counted = await tx.select().from(stock).where(among(stock.id, unlisted))
    const used = new Map(counted.map(({ id, sold, held }) => [id, sold + held]))
    for (const { id, name } of removed) noteRemoval(report, { kind, id, name }, used.get(id) ?? 0)
    return { removed: unlisted.length }
  }

  const rates = catalogue.ticketRates
  const eventsWithRates = catalogue.events.filter(({ input }) => input.ticket_rates)
  const withAllPrices = rates.filter(({ input }) => input.prices && input.show_all_prices !== false)
  const withSupplements = rates.filter(({ input }) => input.supplements)
  const withQuestions = rates.filter(({ input }) => input.questions)
  const withDiscounts = catalogue.organizations.filter(({ input }) => input.discounts)
  await upsert(tx, channels, catalogue.organizations.map(rows.ownChannelRow))
  return {
    organizations: await write('organization', organizations, catalogue.organizations, rows.organizationRow),
    discounts: {
      ...(await write('discount', discounts, catalogue.discounts, rows.discountRow)),
      ...(await markRemoved('discount', discounts, existing.discounts, catalogue.discounts, withDiscounts)),
    },
    locations: await write('location', locations, catalogue.locations, rows.locationRow),
    events: await write('event', events, catalogue.events, rows.eventRow),
    ticketRates: {
      ...(await write('ticket rate', ticketRates, rates, rows.ticketRateRow)),
      ...(await markRemoved('ticket rate', ticketRates, existing.ticketRates, rates, eventsWithRates)),
    },
    prices: {
      ...(await write('price', prices, pricesWithPositions(catalogue, existing), rows.priceRow)),
      ...(await markRemoved('price', prices, existing.prices, catalogue.prices, withAllPrices)),
    },
    supplements: {
      ...(await write('supplement', supplements, catalogue.supplements, rows.supplementRow)),
      ...(await markRemoved(
        'supplement',
        supplements,
        existing.supplements,
        catalogue.supplements,
        withSupplements,
      )),
    },
    questions: {
      ...(await write('question', questions, catalogue.questions, rows.questionRow)),
      ...(await markRemoved('question', questions, existing.questions, catalogue.questions, withQuestions)),
    },
  }
}

/** Finds rows that are on sale under one of these parents but not in the file. */
function findUnlisted(
  existing: Map<string, ExistingChild>,
  named: Entry<unknown>[],
  parents: Entry<unknown>[],
): ExistingChild[] {
  const ids = new Set(named.map(({ id }) => id))
  const parentIds = new Set(parents.map(({ id }) => id))
  return [...existing.values()].filter(
    ({ id, parentId, removed }) => !removed && parentIds.has(parentId) && !ids.has(id),
  )
}

/** Assigns positions to prices. A list that shows only the current price leaves the others on sale: existing
 *  prices keep their positions, and new ones come after them. */
function pricesWithPositions({ prices, ticketRates }: Catalogue, existing: Existing): Catalogue['prices'] {
  const partial = ticketRates.filter(({ input }) => input.show_all_prices === false)
  const lastOf = new Map(
    findUnlisted(existing.prices, prices, partial).map(({ parentId }): [string, number] => [parentId, 0]),
  )
  for (const { parentId, position } of existing.prices.values()) {
    const last = lastOf.get(parentId)
    if (last !== undefined) lastOf.set(parentId, Math.max(last, position))
  }
  return prices.map((price) => {
    const last = lastOf.get(price.parentId)
    if (last === undefined) return price
    return { ...price, position: existing.prices.get(price.id)?.position ?? last + 1 + price.position }
  })
}
