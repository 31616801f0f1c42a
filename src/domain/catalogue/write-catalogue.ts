import { channels } from '../../auth/table.ts'
import type { Connection } from '../../database/database.ts'
import { discounts } from '../discount/table.ts'
import { events } from '../event/table.ts'
import { locations } from '../location/table.ts'
import { organizations } from '../organization/table.ts'
import { prices, questions, supplements, ticketRates } from '../ticket-rate/table.ts'
import * as rows from './catalogue-rows.ts'
import { currenciesOf } from './check-catalogue.ts'
import { among, type ChildTable, type Existing, type ExistingChild } from './find-existing.ts'
import type { Catalogue, Entry } from './read-catalogue.ts'
import { upsert } from './upsert.ts'

/** Writes the objects of a checked file, and removes from sale what its lists no longer name. */
export async function writeCatalogue(tx: Connection, catalogue: Catalogue, existing: Existing) {
  const currencies = currenciesOf(catalogue, existing)
  // After the checks, every entry has a known organization.
  const withCurrency =
    <Child extends Entry<unknown>, Row>(rowOf: (child: Child, currency: string) => Row) =>
    (child: Child) =>
      rowOf(child, currencies.get(child.organizationId) ?? '')

  // Marks rows instead of deleting them, because sold tickets may refer to them.
  async function markRemoved(table: ChildTable, ...lists: Parameters<typeof findUnlisted>) {
    const unlisted = findUnlisted(...lists)
    if (unlisted.length > 0) await tx.update(table).set({ removed: true }).where(among(table.id, unlisted))
    return { removed: unlisted.length }
  }

  const rates = catalogue.ticketRates
  const eventsWithRates = catalogue.events.filter(({ input }) => input.ticket_rates)
  const withAllPrices = rates.filter(({ input }) => input.prices && input.show_all_prices !== false)
  const withSupplements = rates.filter(({ input }) => input.supplements)
  const withQuestions = rates.filter(({ input }) => input.questions)
  const withDiscounts = catalogue.organizations.filter(({ input }) => input.discounts)
  await upsert(tx, channels, catalogue.organizations, rows.ownChannelRow)
  return {
    organizations: await upsert(tx, organizations, catalogue.organizations, rows.organizationRow),
    discounts: {
      ...(await upsert(tx, discounts, catalogue.discounts, withCurrency(rows.discountRow))),
      ...(await markRemoved(discounts, existing.discounts, catalogue.discounts, withDiscounts)),
    },
    locations: await upsert(tx, locations, catalogue.locations, rows.locationRow),
    events: await upsert(tx, events, catalogue.events, rows.eventRow),
    ticketRates: {
      ...(await upsert(tx, ticketRates, rates, rows.ticketRateRow, ['admits', 'transferable'])),
      ...(await markRemoved(ticketRates, existing.ticketRates, rates, eventsWithRates)),
    },
    prices: {
      ...(await upsert(tx, prices, pricesWithPositions(catalogue, existing), withCurrency(rows.priceRow))),
      ...(await markRemoved(prices, existing.prices, catalogue.prices, withAllPrices)),
    },
    supplements: {
      ...(await upsert(tx, supplements, catalogue.supplements, withCurrency(rows.supplementRow), [
        'description',
        'productQuantity',
      ])),
      ...(await markRemoved(supplements, existing.supplements, catalogue.supplements, withSupplements)),
    },
    questions: {
      ...(await upsert(tx, questions, catalogue.questions, rows.questionRow)),
      ...(await markRemoved(questions, existing.questions, catalogue.questions, withQuestions)),
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
