import { getTableColumns } from 'drizzle-orm'
import type { NamedFind } from '../../data/batch-loader.ts'
import { type JoinedRow, rowJoiner, rowsOf } from '../../data/json-rows.ts'
import { anyOf } from '../../data/prepared.ts'
import type { Mode } from '../../shared/mode.ts'
import {
  type Left,
  type ListedPrice,
  leftColumns,
  ofStock,
  type Price,
  prices,
  type Stock,
  stock,
  stockId,
} from './table.ts'

export type StockRow = Left & Pick<Stock, 'id'>

/** Query for stock counters by their ids (see `stockIds`). */
export const stockById: NamedFind<StockRow> = {
  name: 'stock_by_id',
  rows: rowsOf({ id: stock.id, ...leftColumns }),
  query: (select, keys) => select.from(stock).where(anyOf(stock.id, keys)),
}

/** Ids of the counters of rates and prices in a mode. */
export const stockIds = (mode: Mode, ids: string[]): string[] =>
  mode === 'live' ? ids : ids.map((id) => stockId(mode, id))

/** Maps counters by the id of the rate or price that they count. */
export const byCounted = (rows: StockRow[]): Map<string, Left> =>
  new Map(rows.map((row) => [ofStock(row.id).id, row]))

/** A price whose counters are read apart from it. */
export type UncountedPrice = JoinedRow<ListedPrice, Left>

export const toUncounted = rowJoiner<ListedPrice, Left>(getTableColumns(prices), leftColumns)

/** Joins prices with their counters. Leaves out those that have none. */
export function withStock(prices: UncountedPrice[], stockOf: Map<string, Left>): Price[] {
  const counted: Price[] = []
  for (const price of prices) {
    const left = stockOf.get(price.row.id)
    if (left) counted.push(price.with(left))
  }
  return counted
}
