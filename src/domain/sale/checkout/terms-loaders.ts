import type { KeyRow } from '../../../auth/authenticate.ts'
import type { Readers } from '../../../data/batch-loader.ts'
import { readByOrganization } from '../../../data/by-organization.ts'
import { coalesceReads } from '../../../data/coalesce.ts'
import { Loader } from '../../../data/loader.ts'
import { type Finds, type Found, findTogether, inOrganization, keyedBy } from '../../../data/prepared.ts'
import type { Versioned } from '../../../data/versioned-cache.ts'
import type { Database } from '../../../database/database.ts'
import { isDistributed } from '../../../database/distributed.ts'
import type { Context } from '../../../request/context.ts'
import { createContextWith, keysByKeyId } from '../../../request/prefetch.ts'
import { groupBy } from '../../../shared/group-by.ts'
import { instruments } from '../../../shared/instruments.ts'
import { type Mode, perMode } from '../../../shared/mode.ts'
import type { Event } from '../../event/table.ts'
import type { Organization } from '../../organization/table.ts'
import {
  nameIn,
  organizationOfRate,
  pricesWhere,
  ratePrices,
  rateQuestions,
  rateSupplements,
} from '../../ticket-rate/loaders.ts'
import { byCounted, type StockRow, stockById, stockIds } from '../../ticket-rate/stock-loaders.ts'
import {
  type Price,
  type Question,
  type Supplement,
  stock,
  type TicketRate,
} from '../../ticket-rate/table.ts'
import {
  type Listed,
  type Listing,
  type Listings,
  listingsOf,
  toListed,
  toListing,
} from './listing-loaders.ts'
import { overdueHolds, type SaleRow, salesWhere } from './sale-loaders.ts'

/** Terms of sale: all rows that a checkout of a rate depends on, as one statement found them. */
export type Terms = Listed & {
  rate: TicketRate
  event: Pick<Event, 'startDate' | 'endDate' | 'age'>
  /** Time zone of the event's location; null if the event has none. */
  timezone: string | null
  organization: Pick<Organization, 'currency' | 'language' | 'platformFeePercentage'>
  /** True if overdue unpaid holds still take up places of the rate. */
  hasOverdueHolds: boolean
}

type Parts = [SaleRow, Price, Supplement, Question, { ticketRateId: string }]

// Queries for API keys, and for the terms of the rates `keys` with the counters of a mode. Whatever is listed is read
// under the rates `unlistedKeys` alone, and counters alone by `stockKeys`.
const findAll = perMode(
  (mode): Finds<[KeyRow, StockRow, ...Parts]> => [
    keysByKeyId,
    keyedBy('stockKeys', stockById),
    salesWhere(mode),
    keyedBy('unlistedKeys', ratePrices[mode]),
    keyedBy('unlistedKeys', rateSupplements),
    keyedBy('unlistedKeys', rateQuestions),
    overdueHolds(),
  ],
)

// Queries for the terms of rates of one organization.
const findOwn = perMode(
  (mode): Finds<Parts> => [
    salesWhere(mode, inOrganization(stock.organizationId)),
    pricesWhere(mode, inOrganization(stock.organizationId)),
    rateSupplements,
    rateQuestions,
    overdueHolds(inOrganization),
  ],
)

const byRate = <Row extends { ticketRateId: string }>(rows: Row[]) => groupBy(rows, (row) => row.ticketRateId)

// Groups rows by rate.
function groupParts([rates, prices, supplements, questions, overdue]: Found<Parts>) {
  const pricesOf = byRate(prices)
  const supplementsOf = byRate(supplements)
  const questionsOf = byRate(questions)
  const overdueOf = byRate(overdue)
  const listedUnder = (id: string): Listed => ({
    prices: pricesOf.get(id) ?? [],
    supplements: supplementsOf.get(id) ?? [],
    questions: questionsOf.get(id) ?? [],
  })
  const termsOf = (rate: SaleRow, listed: Listed): Terms => ({
    rate,
    event: rate,
    timezone: rate.timezone,
    organization: rate,
    ...listed,
    hasOverdueHolds: overdueOf.has(rate.id),
  })
  return { rates, listedUnder, termsOf }
}

// Finds the terms of rates by id, and API keys by id, in one statement. Takes a cached listing if the statement finds
// that its revision is the current one; rates of which it is not are read again, without it.
async function findTerms(
  db: Database,
  mode: Mode,
  ids: string[],
  { keyIds = [], listings = null }: { keyIds?: string[]; listings?: Listings | null } = {},
): Promise<[keys: KeyRow[], terms: Map<string, Terms>]> {
  const cached = new Map<string, Versioned<Listing>>()
  for (const id of ids) {
    const listing = listings?.get(id)
    if (listing) cached.set(id, listing)
  }
  if (listings) instruments.observer?.onCache('listings', cached.size, ids.length - cached.size)
  const priceIds = [...cached.values()].flatMap(({ value }) => value.prices.map(({ row }) => row.id))
  const [keys, counters, ...parts] = await findTogether(db, nameIn(mode, 'keys_and_terms'), findAll[mode], {
    keyIds,
    keys: ids,
    unlistedKeys: ids.filter((id) => !cached.has(id)),
    stockKeys: stockIds(mode, priceIds),
  })
  const stockOf = byCounted(counters)
  const { rates, listedUnder, termsOf } = groupParts(parts)
  const terms = new Map<string, Terms>()
  const changed: string[] = []
  for (const rate of rates) {
    const { id, revision } = rate
    const listing = cached.get(id)
    if (!listing) {
      const listed = listedUnder(id)
      listings?.set(id, { revision, value: toListing(listed) })
      terms.set(id, termsOf(rate, listed))
    } else if (listing.revision === revision) {
      terms.set(id, termsOf(rate, toListed(listing.value, stockOf)))
    } else {
      listings?.delete(id)
      changed.push(id)
    }
  }
  if (changed.length === 0) return [keys, terms]
  const [, again] = await findTerms(db, mode, changed, { listings })
  return [keys, new Map([...terms, ...again])]
}

async function findOwnTerms(
  db: Database,
  mode: Mode,
  organizationId: string,
  ids: string[],
): Promise<Map<string, Terms>> {
  const values = { organizationId, keys: ids }
  const parts = await findTogether(db, nameIn(mode, 'terms_of_organization'), findOwn[mode], values)
  const { rates, listedUnder, termsOf } = groupParts(parts)
  return new Map(rates.map((rate) => [rate.id, termsOf(rate, listedUnder(rate.id))]))
}

// Checkouts in one turn of the event loop, of any rates and callers of a mode, share one statement.
const readTermsTogether = perMode((mode) =>
  coalesceReads<Terms>(async (db, ids) => {
    const [, terms] = await findTerms(db, mode, ids)
    return terms
  }),
)

const readOwnTerms = perMode((mode) =>
  readByOrganization<Terms>((db, organizationId, ids) => findOwnTerms(db, mode, organizationId, ids)),
)

// A distributed database has the counters of a rate on the server of its organization.
async function findTermsOf(db: Database, mode: Mode, id: string): Promise<Terms | null> {
  if (!isDistributed(db)) return readTermsTogether[mode](db, id)
  const organizationId = await organizationOfRate(db, id)
  return organizationId === null ? null : readOwnTerms[mode](db, organizationId, id)
}

/** Loads the terms of rates without permission checks: use `readTerms`. */
const termsByTicketRateId = ({ own: { db, scope } }: Readers) =>
  new Loader((ids) => Promise.all(ids.map((id) => findTermsOf(db, scope.mode, id))))

/** Reads the terms of a rate, which the request may have prefetched. Null if there is no such rate, or the
 *  caller may not sell it. */
export async function readTerms(ticketRateId: string, { loaders, caller }: Context): Promise<Terms | null> {
  const terms = await loaders.load(termsByTicketRateId, ticketRateId)
  return terms && caller?.organizationIds.includes(terms.rate.organizationId) ? terms : null
}

/** Creates the context of a checkout request. Reads the terms of its rate and the API key in one
 *  statement. */
export const createCheckoutContext = createContextWith<Terms>({
  find: (source, keyIds, ids, mode) =>
    findTerms(source.db, mode, ids, { keyIds, listings: listingsOf(source, mode) }),
  prime: ({ loaders }, id, terms) => loaders.get(termsByTicketRateId).prime(id, terms),
})
