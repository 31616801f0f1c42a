import type { Connection } from '../../database/database.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import {
  eventRow,
  locationRow,
  organizationRow,
  priceRow,
  questionRow,
  supplementRow,
  ticketRateRow,
} from './catalogue-rows.ts'
import { currenciesOf } from './check-catalogue.ts'
import { among, type ChildTable, type Existing, type ExistingChild } from './find-existing.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'
import { type Tally, upsert } from './upsert.ts'

/** Writes the objects of a checked file, and removes from sale what its lists no longer name. */
export async function writeCatalogue(tx: Connection, catalogue: Catalogue, existing: Existing) {
  const currencies = currenciesOf(catalogue, existing)
  // After the checks, every entry has a known organization.
  const currencyOf = ({ organizationId }: Entry<unknown>) => currencies.get(organizationId) ?? ''

  // Marks rows instead of deleting them, because sold tickets may refer to them.
  async function markRemoved(table: ChildTable, rows: ExistingChild[]): Promise<{ removed: number }> {
    if (rows.length > 0) await tx.update(table).set({ removed: true }).where(among(table.id, rows))
    return { removed: rows.length }
  }

  async function writeLists<Table extends ChildTable, Child extends Entry<unknown>>(
    table: Table,
    entries: Child[],
    rowOf: (entry: Child) => Table['$inferSelect'],
    existing: Map<string, ExistingChild>,
    parents: Entry<unknown>[],
  ): Promise<Tally> {
    return {
      ...(await upsert(tx, table, entries, rowOf)),
      ...(await markRemoved(table, findUnlisted(existing, entries, parents))),
    }
  }

  const rates = catalogue.ticketRates
  return {
    organizations: await upsert(tx, organizations, catalogue.organizations, organizationRow),
    locations: await upsert(tx, locations, catalogue.locations, locationRow),
    events: await upsert(tx, events, catalogue.events, eventRow),
    ticketRates: await writeLists(
      ticketRates,
      rates,
      ticketRateRow,
      existing.ticketRates,
      catalogue.events.filter(({ input }) => input.ticket_rates),
    ),
    prices: await writeLists(
      prices,
      pricesWithPositions(catalogue, existing),
      (price) => priceRow(price, currencyOf(price)),
      existing.prices,
      rates.filter(({ input }) => input.prices && input.show_all_prices !== false),
    ),
    supplements: await writeLists(
      supplements,
      catalogue.supplements,
      (supplement) => supplementRow(supplement, currencyOf(supplement)),
      existing.supplements,
      rates.filter(({ input }) => input.supplements),
    ),
    questions: await writeLists(
      questions,
      catalogue.questions,
      questionRow,
      existing.questions,
      rates.filter(({ input }) => input.questions),
    ),
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
