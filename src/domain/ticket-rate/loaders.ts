import { and, asc, eq, getTableColumns, not } from 'drizzle-orm'
import {
  type Batch,
  loadMany,
  loadOne,
  type NamedFind,
  type Reader,
  type Readers,
} from '../../data/batch-loader.ts'
import { fewRowsOf, rowsOf } from '../../data/json-rows.ts'
import { Loader } from '../../data/loader.ts'
import { anyOf, type Find } from '../../data/prepared.ts'
import { loadOffers } from './offer-loaders.ts'
import {
  leftColumns,
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

/** A rate, with what is left of it. */
export const rateColumns = { ...getTableColumns(ticketRates), ...leftColumns }
const priceRows = fewRowsOf({ ...getTableColumns(prices), ...leftColumns })
const supplementRows = fewRowsOf(getTableColumns(supplements))
const questionRows = fewRowsOf(getTableColumns(questions))

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

const stockById: NamedFind<Stock> = {
  name: 'stock_by_id',
  rows: rowsOf(getTableColumns(stock)),
  query: (select) => select.from(stock).where(anyOf(stock.id, 'keys')),
}

const pricesByTicketRateId: Batch<Price> = {
  ...listedPrices,
  name: 'prices_by_ticket_rate_id',
  key: ({ ticketRateId }) => ticketRateId,
}
const supplementsByTicketRateId: Batch<Supplement> = {
  ...listedSupplements,
  name: 'supplements_by_ticket_rate_id',
  key: ({ ticketRateId }) => ticketRateId,
}
const questionsByTicketRateId: Batch<Question> = {
  ...listedQuestions,
  name: 'questions_by_ticket_rate_id',
  key: ({ ticketRateId }) => ticketRateId,
}
const ticketRateById: Batch<TicketRate> = {
  name: 'ticket_rate_by_id',
  rows: rowsOf(rateColumns),
  query: (select) =>
    select
      .from(ticketRates)
      .innerJoin(stock, eq(stock.id, ticketRates.id))
      .where(and(anyOf(ticketRates.id, 'keys'), anyOf(ticketRates.organizationId, 'organizationIds'))),
  key: ({ id }) => id,
}
const priceById: Batch<Price> = {
  name: 'price_by_id',
  rows: priceRows,
  query: (select) =>
    select.from(prices).innerJoin(stock, eq(stock.id, prices.id)).where(anyOf(prices.id, 'keys')),
  key: ({ id }) => id,
}

/** What comes along with the rates of an event. */
type Below = {
  pricesByTicketRateId: Loader<Price[]>
  supplementsByTicketRateId: Loader<Supplement[]>
  questionsByTicketRateId: Loader<Question[]>
}

// What is left is read for each request, whatever is remembered.
function loadRates(catalogue: Reader, below: Below): Loader<TicketRate[]> {
  const offerByEventId = loadOffers(catalogue)
  return new Loader(async (eventIds) => {
    const offers = await offerByEventId.loadAll(eventIds)
    const found = await catalogue.find(
      stockById,
      offers.flatMap((offer) => offer?.stockIds ?? []),
    )
    const leftOf = new Map<string, Stock>()
    for (const stock of found) leftOf.set(stock.id, stock)
    return offers.map((offer) => {
      const rates: TicketRate[] = []
      for (const { rate, prices, supplements, questions } of offer?.rates ?? []) {
        const { id } = rate.row
        const left = leftOf.get(id)
        if (!left) continue
        const shown: Price[] = []
        for (const price of prices) {
          const left = leftOf.get(price.row.id)
          if (left) shown.push(price.with(left))
        }
        rates.push(rate.with(left))
        below.pricesByTicketRateId.prime(id, shown)
        below.supplementsByTicketRateId.prime(id, supplements)
        below.questionsByTicketRateId.prime(id, questions)
      }
      return rates
    })
  })
}

/** A rate is found by its own id even when it is no longer listed, because tickets of it may be out. */
export const ticketRateLoaders = {
  pricesByTicketRateId: ({ catalogue }: Readers) => loadMany(catalogue, pricesByTicketRateId),
  supplementsByTicketRateId: ({ catalogue }: Readers) => loadMany(catalogue, supplementsByTicketRateId),
  questionsByTicketRateId: ({ catalogue }: Readers) => loadMany(catalogue, questionsByTicketRateId),
  ticketRatesByEventId: ({ catalogue }: Readers, below: Below) => loadRates(catalogue, below),
  ticketRateById: ({ catalogue }: Readers) => loadOne(catalogue, ticketRateById),
  priceById: ({ catalogue }: Readers) => loadOne(catalogue, priceById),
}
