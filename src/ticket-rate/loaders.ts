import { and, asc, eq, getTableColumns, not } from 'drizzle-orm'
import { anyOf, type Find } from '../batch.ts'
import { Loader } from '../loader.ts'
import { loadMany, loadOne, type Named, type Reader } from '../reader.ts'
import type { Revisions } from '../revised.ts'
import { rowJoiner, rowsOf } from '../rows.ts'
import { loadOffers } from './offer-loaders.ts'
import {
  type Left,
  type ListedPrice,
  type ListedRate,
  type Price,
  prices,
  type Question,
  questions,
  type Stock,
  type Supplement,
  stock,
  supplements,
  type TicketRate,
  ticketRates,
} from './table.ts'

const { id: _, ...left } = getTableColumns(stock)
/** A rate, with what is left of it. */
export const rateColumns = { ...getTableColumns(ticketRates), ...left }
const rateRows = rowsOf(rateColumns)
const priceRows = rowsOf({ ...getTableColumns(prices), ...left })
const supplementRows = rowsOf(getTableColumns(supplements))
const questionRows = rowsOf(getTableColumns(questions))

/** What is listed of each of the rates `keys`, in order. Whoever sees a rate sees these. */
export const listedPrices: Find<Price> = {
  rows: priceRows,
  query: (select) =>
    select
      .from(prices)
      .innerJoin(stock, eq(stock.id, prices.id))
      .where(and(anyOf(prices.ticketRateId, 'keys'), not(prices.removed)))
      .orderBy(asc(prices.position), asc(prices.id)),
}
export const listedSupplements: Find<Supplement> = {
  rows: supplementRows,
  query: (select) =>
    select
      .from(supplements)
      .where(and(anyOf(supplements.ticketRateId, 'keys'), not(supplements.removed)))
      .orderBy(asc(supplements.position), asc(supplements.id)),
}
export const listedQuestions: Find<Question> = {
  rows: questionRows,
  query: (select) =>
    select
      .from(questions)
      .where(and(anyOf(questions.ticketRateId, 'keys'), not(questions.removed)))
      .orderBy(asc(questions.position), asc(questions.id)),
}

const stockById: Named<Stock> = {
  name: 'stock_by_id',
  rows: rowsOf(getTableColumns(stock)),
  query: (select) => select.from(stock).where(anyOf(stock.id, 'keys')),
}
const toRate = rowJoiner<ListedRate, Left>(getTableColumns(ticketRates), left)
const toPrice = rowJoiner<ListedPrice, Left>(getTableColumns(prices), left)

/** A rate is found by its own id even when it is no longer listed, because tickets of it may be out. What is left is read
 *  for each request, whatever is remembered. */
export function ticketRateLoaders(reader: Reader, revisions: Revisions) {
  const byRate = {
    pricesByTicketRateId: loadMany(reader, {
      ...listedPrices,
      name: 'prices_by_ticket_rate_id',
      key: (price) => price.ticketRateId,
    }),
    supplementsByTicketRateId: loadMany(reader, {
      ...listedSupplements,
      name: 'supplements_by_ticket_rate_id',
      key: (supplement) => supplement.ticketRateId,
    }),
    questionsByTicketRateId: loadMany(reader, {
      ...listedQuestions,
      name: 'questions_by_ticket_rate_id',
      key: (question) => question.ticketRateId,
    }),
  }
  const offerByEventId = loadOffers(reader, revisions)

  // With what is listed below them, because it comes along.
  async function ratesOf(eventIds: readonly string[]): Promise<TicketRate[][]> {
    const offers = await offerByEventId.loadAll(eventIds)
    const found = await reader.find(
      stockById,
      offers.flatMap((offer) => offer?.stockIds ?? []),
    )
    const leftOf = new Map(found.map((stock) => [stock.id, stock]))
    return offers.map((offer) => {
      const rates: TicketRate[] = []
      for (const listed of offer?.rates ?? []) {
        const { rate, supplements, questions } = listed
        const left = leftOf.get(rate.id)
        if (!left) continue
        const prices: Price[] = []
        for (const price of listed.prices) {
          const left = leftOf.get(price.id)
          if (left) prices.push(toPrice(price, left))
        }
        rates.push(toRate(rate, left))
        byRate.pricesByTicketRateId.prime(rate.id, prices)
        byRate.supplementsByTicketRateId.prime(rate.id, supplements)
        byRate.questionsByTicketRateId.prime(rate.id, questions)
      }
      return rates
    })
  }

  return {
    ...byRate,
    ticketRatesByEventId: new Loader(ratesOf),
    ticketRateById: loadOne(reader, {
      name: 'ticket_rate_by_id',
      rows: rateRows,
      query: (select) =>
        select
          .from(ticketRates)
          .innerJoin(stock, eq(stock.id, ticketRates.id))
          .where(and(anyOf(ticketRates.id, 'keys'), anyOf(ticketRates.organizationId, 'organizationIds'))),
      key: (rate) => rate.id,
    }),
    priceById: loadOne(reader, {
      name: 'price_by_id',
      rows: priceRows,
      query: (select) =>
        select.from(prices).innerJoin(stock, eq(stock.id, prices.id)).where(anyOf(prices.id, 'keys')),
      key: (price) => price.id,
    }),
  }
}
