import { and, getTableColumns, not, sql } from 'drizzle-orm'
import { loadById } from '../../data/batch-loader.ts'
import { readByOrganization } from '../../data/by-organization.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, inOrganization, query, textArrayParam } from '../../data/query.ts'
import type { Database } from '../../database/database.ts'
import { type Mode, perMode } from '../../shared/mode.ts'
import { isStockOf, leftColumns, stock } from '../ticket-rate/table.ts'
import { type Discount, discounts } from './table.ts'

/** Columns of a discount with the counters of its uses. */
export const discountColumns = { ...getTableColumns(discounts), ...leftColumns }
const rows = rowsOf(discountColumns)

/** Loads discounts of an integration's organization, removed ones too, because sold tickets may refer to
 *  them. A channel finds none. */
export const discountById = loadById<Discount>('own', {
  name: 'discount_by_id',
  rows,
  query: (select, keys) =>
    select
      .from(discounts)
      .innerJoin(stock, isStockOf('discount', discounts.id))
      .where(and(anyOf(discounts.id, keys), anyOf(discounts.organizationId, 'ownOrganizationIds'))),
})

const byCode = query<Discount>('discounts_by_code', {
  rows,
  query: (select, keys) =>
    select
      .from(discounts)
      .innerJoin(stock, isStockOf('discount', discounts.id))
      .where(
        and(
          inOrganization(discounts.organizationId),
          inOrganization(stock.organizationId),
          sql`lower(${discounts.code}) = any(${textArrayParam(keys)})`,
          not(discounts.removed),
        ),
      ),
})

const readByCode = perMode((mode) =>
  readByOrganization<Discount>(async (db, values) => {
    const found = await byCode(db, { mode, ...values })
    return new Map(found.map((discount) => [discount.code.toLowerCase(), discount]))
  }),
)

/** Finds a discount of an organization by its code, whose case does not matter, with the counters of its uses
 *  in a mode as they are now. Without permission checks. */
export const findDiscount = (
  { db, mode }: { db: Database; mode: Mode },
  organizationId: string,
  code: string,
): Promise<Discount | null> => readByCode[mode](db, organizationId, code.toLowerCase())
