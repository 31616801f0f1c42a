import type { Connection } from '../database.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import { currenciesOf } from './check-catalogue.ts'
import { among, type Existing, type ExistingChild } from './find-existing.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'
import {
  eventRow,
  locationRow,
  organizationRow,
  priceRow,
  questionRow,
  supplementRow,
  ticketRateRow,
} from './rows.ts'
import { type Tally, upsert } from './upsert.ts'

type ChildTable = typeof ticketRates | typeof prices | typeof supplements | typeof questions

/** Writes what a checked file names, and removes from sale what its lists no longer name. */
export async function writeCatalogue(tx: Connection, catalogue: Catalogue, existing: Existing) {
  const currencies = currenciesOf(catalogue, existing)
  // The organization of a checked entry is known.
  const currencyOf = ({ organizationId }: Entry<unknown>) => currencies.get(organizationId) ?? ''

  // Nothing is deleted, because tickets of it may be out.
  async function writeListed<Table extends ChildTable>(
    table: Table,
    rows: Table['$inferSelect'][],
    gone: ExistingChild[],
  ): Promise<Tally> {
    const ids = gone.map(({ id }) => id)
    if (ids.length > 0) await tx.update<ChildTable>(table).set({ removed: true }).where(among(table.id, ids))
    return { ...(await upsert(tx, table, rows)), removed: ids.length }
  }

  const { ticketRates: rates } = catalogue
  return {
    organizations: await upsert(tx, organizations, catalogue.organizations.map(organizationRow)),
    locations: await upsert(tx, locations, catalogue.locations.map(locationRow)),
    events: await upsert(tx, events, catalogue.events.map(eventRow)),
    ticketRates: await writeListed(
      ticketRates,
      rates.map(ticketRateRow),
      unnamed(
        existing.ticketRates,
        rates,
        catalogue.events.filter(({ given }) => given.ticket_rates),
      ),
    ),
    prices: await writeListed(
      prices,
      placedPrices(catalogue, existing).map((price) => priceRow(price, currencyOf(price))),
      unnamed(
        existing.prices,
        catalogue.prices,
        rates.filter(({ given }) => given.prices && given.show_all_prices !== false),
      ),
    ),
    supplements: await writeListed(
      supplements,
      catalogue.supplements.map((supplement) => supplementRow(supplement, currencyOf(supplement))),
      unnamed(
        existing.supplements,
        catalogue.supplements,
        rates.filter(({ given }) => given.supplements),
      ),
    ),
    questions: await writeListed(
      questions,
      catalogue.questions.map(questionRow),
      unnamed(
        existing.questions,
        catalogue.questions,
        rates.filter(({ given }) => given.questions),
      ),
    ),
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
