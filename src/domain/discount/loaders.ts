import { and, getTableColumns, not, sql } from 'drizzle-orm'
import { loadById } from '../../data/batch-loader.ts'
import { coalesceReads } from '../../data/coalesce.ts'
import { rowsOf } from '../../data/json-rows.ts'
import { anyOf, query } from '../../data/query.ts'
import type { Database } from '../../database/database.ts'
import { type Mode, perMode } from '../../shared/mode.ts'
import { isStockOf, leftColumns, stock } from '../ticket-rate/table.ts'
import { type Discount, discounts } from './table.ts'

const parameter = sql.placeholder

// Separated by a space, which identifiers cannot contain.
const nameOf = (organizationId: string, code: string) => `${organizationId} ${code.toLowerCase()}`

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
  query: (select) =>
    select
      .from(discounts)
      .innerJoin(stock, isStockOf('discount', discounts.id))
      .where(
        and(
          sql`(${discounts.organizationId}, lower(${discounts.code})) in (select * from
          unnest(${parameter('organizationIds')}::text[], ${parameter('codes')}::text[]))`,
          not(discounts.removed),
        ),
      ),
})

const readByName = perMode((mode) =>
  coalesceReads<Discount>(async (db, names) => {
    const parts = names.map((name) => name.split(' '))
    const found = await byCode(db, {
      mode,
      organizationIds: parts.map(([organizationId = '']) => organizationId),
      codes: parts.map(([, code = '']) => code),
    })
    return new Map(found.map((discount) => [nameOf(discount.organizationId, discount.code), discount]))
  }),
)

/** Finds a discount of an organization by its code, whose case does not matter, with the counters of its uses
 *  in a mode as they are now. Without permission checks. */
export const findDiscount = (
  { db, mode }: { db: Database; mode: Mode },
  organizationId: string,
  code: string,
): Promise<Discount | null> => readByName[mode](db, nameOf(organizationId, code))
