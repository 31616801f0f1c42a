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
import { among, type Existing, type ExistingChild } from './find-existing.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'
import { upsert } from './upsert.ts'

type ChildTable = typeof ticketRates | typeof prices | typeof supplements | typeof questions

/** Writes what a checked file names, and removes from sale what its lists no longer name. */
export async function writeCatalogue(tx: Connection, catalogue: Catalogue, existing: Existing) {
  const currencies = currenciesOf(catalogue, existing)
  // The organization of a checked entry is known.
  const currencyOf = ({ organizationId }: Entry<unknown>) => currencies.get(organizationId) ?? ''

  // Nothing is deleted, because tickets of it may be out.
  async function remove(table: ChildTable, gone: ExistingChild[]): Promise<{ removed: number }> {
    const ids = gone.map(({ id }) => id)
    if (ids.length > 0) await tx.update(table).set({ removed: true }).where(among(table.id, ids))
    return { removed: ids.length }
  }

  const rates = catalogue.ticketRates
  const eventsWithRates = catalogue.events.filter(({ given }) => given.ticket_rates)
  const withAllPrices = rates.filter(({ given }) => given.prices && given.show_all_prices !== false)
  const withSupplements = rates.filter(({ given }) => given.supplements)
  const withQuestions = rates.filter(({ given }) => given.questions)
  return {
    organizations: await upsert(tx, organizations, catalogue.organizations, organizationRow),
    locations: await upsert(tx, locations, catalogue.locations, locationRow),
    events: await upsert(tx, events, catalogue.events, eventRow),
    ticketRates: {
      ...(await upsert(tx, ticketRates, rates, ticketRateRow)),
      ...(await remove(ticketRates, unnamed(existing.ticketRates, rates, eventsWithRates))),
    },
    prices: {
      ...(await upsert(tx, prices, placedPrices(catalogue, existing), (price) =>
        priceRow(price, currencyOf(price)),
      )),
      ...(await remove(prices, unnamed(existing.prices, catalogue.prices, withAllPrices))),
    },
    supplements: {
      ...(await upsert(tx, supplements, catalogue.supplements, (supplement) =>
        supplementRow(supplement, currencyOf(supplement)),
      )),
      ...(await remove(supplements, unnamed(existing.supplements, catalogue.supplements, withSupplements))),
    },
    questions: {
      ...(await upsert(tx, questions, catalogue.questions, questionRow)),
      ...(await remove(questions, unnamed(existing.questions, catalogue.questions, withQuestions))),
    },
  }
}

/** What is on sale in one of these parents, and not in the file. */
function unnamed(
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

/** The prices with the positions that they are to have. Where a list shows the current price alone, the others stay as
 *  they are: those that the database has keep their places, and new ones come after all of them. */
function placedPrices({ prices, ticketRates }: Catalogue, existing: Existing): Catalogue['prices'] {
  const partial = ticketRates.filter(({ given }) => given.show_all_prices === false)
  const lastOf = new Map(
    unnamed(existing.prices, prices, partial).map(({ parentId }): [string, number] => [parentId, 0]),
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
