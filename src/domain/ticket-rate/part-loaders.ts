import { and, eq, getTableColumns } from 'drizzle-orm'
import { type Batch, loadOne, type Readers } from '../../data/batch-loader.ts'
import { type Rows, rowsOf } from '../../data/json-rows.ts'
import { anyOf } from '../../data/query.ts'
import {
  isStockOf,
  leftColumns,
  type Price,
  prices,
  type Question,
  questions,
  type Supplement,
  stock,
  supplements,
  ticketRates,
} from './table.ts'

// Parts of rates by their own identifiers, within the organizations whose catalogue the caller sees.

/** A price with what decides whether its rate lists it. */
export type VisiblePrice = Price & { showAllPrices: boolean }

const isVisible = (child: typeof prices | typeof supplements | typeof questions, keys: string) =>
  and(anyOf(child.id, keys), anyOf(ticketRates.organizationId, 'organizationIds'))

const priceByIdBatch: Batch<VisiblePrice> = {
  name: 'visible_price_by_id',
  rows: rowsOf({
    ...getTableColumns(prices),
    ...leftColumns,
    showAllPrices: ticketRates.showAllPrices,
  }),
  query: (select, keys) =>
    select
      .from(prices)
      .innerJoin(stock, isStockOf('price', prices.id))
      .innerJoin(ticketRates, eq(ticketRates.id, prices.ticketRateId))
      .where(isVisible(prices, keys)),
  key: ({ id }) => id,
}

const partById = <Row extends { id: string }>(
  name: string,
  child: typeof supplements | typeof questions,
  rows: Rows<Row>,
): Batch<Row> => ({
  name,
  rows,
  query: (select, keys) =>
    select
      .from(child)
      .innerJoin(ticketRates, eq(ticketRates.id, child.ticketRateId))
      .where(isVisible(child, keys)),
  key: ({ id }) => id,
})
const supplementBatch = partById<Supplement>(
  'supplement_by_id',
  supplements,
  rowsOf(getTableColumns(supplements)),
)
const questionBatch = partById<Question>('question_by_id', questions, rowsOf(getTableColumns(questions)))

// These find removed rows too, because sold tickets may refer to them.
export const visiblePriceById = ({ catalogue }: Readers) => loadOne(catalogue, priceByIdBatch)
export const supplementById = ({ catalogue }: Readers) => loadOne(catalogue, supplementBatch)
export const questionById = ({ catalogue }: Readers) => loadOne(catalogue, questionBatch)
