import { and, eq, sql } from 'drizzle-orm'
import type { Readers } from '../../../engine/data/batch-loader.ts'
import { readByKeys } from '../../../engine/data/by-organization.ts'
import { fewRowsOf } from '../../../engine/data/json-rows.ts'
import { Loader } from '../../../engine/data/loader.ts'
import { anyOf, type Find, inOrganizationIfNamed, queryTogether } from '../../../engine/data/query.ts'
import { nowMs } from '../../../engine/database/clock.ts'
import type { Database } from '../../../engine/database/database.ts'
import type { KeyRow } from '../../caller/authenticate.ts'
import type { Context } from '../../caller/context.ts'
import { type Mode, perMode } from '../../caller/mode.ts'
import { createContextWith, keysByKeyId } from '../../caller/prefetch.ts'
import { isInMode } from '../../caller/sold.ts'
import { refusal } from '../../contract/problem-codes.ts'
import { ageText, events } from '../../event/table.ts'
import { locations } from '../../location/table.ts'
import { organizations } from '../../organization/table.ts'
import { expiries } from '../../payment/queue/table.ts'
import { stock } from '../../stock/table.ts'
import {
  byRate,
  countedRates,
  organizationOfRate,
  rateColumns,
  ratePrices,
  rateQuestions,
  rateSupplements,
} from '../../ticket-rate/loaders.ts'
import { type Price, prices, type Question, type Supplement, ticketRates } from '../../ticket-rate/table.ts'

const saleRows = fewRowsOf({
  ...rateColumns,
  startDate: events.startDate,
  endDate: events.endDate,
  age: ageText,
  organizationNumber: organizations.number,
  currency: organizations.currency,
  language: organizations.language,
  platformFeePercentage: organizations.platformFeePercentage,
  /** Time zone of the event's location; null if the event has none. */
  timezone: sql<string | null>`${locations.timezone}`,
})

/** Terms of sale: all rows that a checkout of a rate depends on, as one statement found them. */
export type Terms = {
  /** Rate with its counters, and what a sale needs of its event, its organization and its location. */
  rate: ReturnType<typeof saleRows.read>[number]
  /** Prices, supplements and questions in their order. */
  prices: Price[]
  supplements: Supplement[]
  questions: Question[]
}

/** Query for rates by id, with their counters. */
const sales: Find<Terms['rate']> = {
  rows: saleRows,
  query: (select, keys) =>
    countedRates(select)
      .innerJoin(events, eq(events.id, ticketRates.eventId))
      .innerJoin(organizations, eq(organizations.id, ticketRates.organizationId))
      .leftJoin(locations, eq(locations.id, events.locationId))
      .where(and(inOrganizationIfNamed(stock.organizationId), anyOf(ticketRates.id, keys))),
}

const findAll = queryTogether('keys_and_terms', [
  keysByKeyId,
  sales,
  ratePrices,
  rateSupplements,
  rateQuestions,
])

// Finds API keys by id and the terms of rates by id, in one statement and so in one snapshot.
async function findTerms(
  db: Database,
  keyIds: string[],
  ids: string[],
  mode: Mode,
  organizationId?: string,
): Promise<[keys: KeyRow[], terms: Map<string, Terms>]> {
  const found = await findAll(db, { keyIds, keys: ids, mode, organizationId })
  const [keys, rates, prices, supplements, questions] = found
  const pricesOf = byRate(prices)
  const supplementsOf = byRate(supplements)
  const questionsOf = byRate(questions)
  const termsOf = (rate: Terms['rate']): Terms => ({
    rate,
    prices: pricesOf.get(rate.id) ?? [],
    supplements: supplementsOf.get(rate.id) ?? [],
    questions: questionsOf.get(rate.id) ?? [],
  })
  return [keys, new Map(rates.map((rate) => [rate.id, termsOf(rate)]))]
}

// Checkouts in one turn of the event loop, of any rates and callers of a mode, share one statement.
const findTermsOf = perMode((mode) =>
  readByKeys<Terms>(async (db, { keys: ids, organizationId }) => {
    const [, terms] = await findTerms(db, [], ids, mode, organizationId)
    return terms
  }, organizationOfRate),
)

/** Query for the prices of the rates `keys`, removed ones too, at which overdue unpaid holds still take up places. A
 *  subquery is asked for each price: a join might read all holds. */
const overduePrices: Find<Pick<Price, 'id' | 'ticketRateId'>> = {
  rows: fewRowsOf({ id: prices.id, ticketRateId: prices.ticketRateId }),
  query: (select, keys) => {
    const isHeldAt = and(
      inOrganizationIfNamed(expiries.organizationId),
      eq(expiries.priceId, prices.id),
      isInMode(expiries.mode),
    )
    const isHeld = sql`(select true from ${expiries} where ${isHeldAt} and ${expiries.expiresAt} <= ${nowMs} limit 1)`
    return select.from(prices).where(and(anyOf(prices.ticketRateId, keys), isHeld))
  },
}

const findStock = queryTogether('stock_and_overdue_holds', [sales, ratePrices, overduePrices])

/** Reads the counters of a rate and its prices for a checkout that found too little, with the prices at which overdue
 *  holds still take up places, by one statement. */
export const readStock = perMode((mode) =>
  readByKeys(async (db, values) => {
    const [rates, prices, overdue] = await findStock(db, { ...values, mode })
    const pricesOf = byRate(prices)
    const overdueOf = byRate(overdue)
    const stockOf = (rate: Terms['rate']) => ({
      rate,
      prices: pricesOf.get(rate.id) ?? [],
      overdueAt: (overdueOf.get(rate.id) ?? []).map(({ id }) => id),
    })
    return new Map(rates.map((rate) => [rate.id, stockOf(rate)]))
  }, organizationOfRate),
)

/** Loads the terms of rates without permission checks: use `readTerms`. */
const termsByTicketRateId = ({ own: { db, reach } }: Readers) =>
  new Loader((ids) => Promise.all(ids.map((id) => findTermsOf[reach.mode](db, id))))

/** Reads the terms of a rate, which the request may have prefetched. Null if there is no such rate, or the
 *  caller may not sell it. */
export async function readTerms(ticketRateId: string, { loaders, caller }: Context): Promise<Terms | null> {
  const terms = await loaders.load(termsByTicketRateId, ticketRateId)
  return terms && caller?.organizationIds.includes(terms.rate.organizationId) ? terms : null
}

export const rateNotFound = () => refusal('NOT_FOUND', 'There is no such ticket rate.', ['ticketRateId'])

/** Creates the context of a checkout request. Reads the terms of its rate and the API key in one
 *  statement. */
export const createCheckoutContext = createContextWith<Terms>({
  find: findTerms,
  prime: ({ loaders }, id, terms) => loaders.get(termsByTicketRateId).prime(id, terms),
})
