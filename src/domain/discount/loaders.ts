import { and, asc, getTableColumns, not, type SQL, sql } from 'drizzle-orm'
import { cursorReader, encodeCursor } from '../../engine/base/cursor.ts'
import { identifierPattern } from '../../engine/base/ids.ts'
import { loadById } from '../../engine/data/batch-loader.ts'
import { readByOrganization } from '../../engine/data/by-organization.ts'
import { rowsOf } from '../../engine/data/json-rows.ts'
import {
  anyOf,
  inOrganization,
  ofOrganization,
  query,
  type Select,
  textArrayParam,
} from '../../engine/data/query.ts'
import type { Database } from '../../engine/database/database.ts'
import { type Mode, perMode } from '../caller/mode.ts'
import { counterColumns, isStockOf, stock } from '../stock/table.ts'
import { type Discount, discounts } from './table.ts'

const rows = rowsOf({ ...getTableColumns(discounts), ...counterColumns })

// Discounts with the counters of their uses.
const countedDiscounts = (select: Select) =>
  select.from(discounts).innerJoin(stock, isStockOf('discount', discounts.id))

// Discounts that an organization offers and that match a condition.
function offeredWhere(select: Select, condition: SQL) {
  const areItsOwn = and(ofOrganization(discounts.organizationId), inOrganization(stock.organizationId))
  return countedDiscounts(select).where(and(areItsOwn, not(discounts.removed), condition))
}

/** Loads discounts of an integration's organization, removed ones too, because sold tickets may refer to
 *  them. A channel finds none. */
export const discountById = loadById<Discount>('own', {
  name: 'discount_by_id',
  rows,
  query: (select, keys) =>
    countedDiscounts(select).where(
      and(anyOf(discounts.id, keys), anyOf(discounts.organizationId, 'ownOrganizationIds')),
    ),
})

const byCode = query<Discount>('discounts_by_code', {
  rows,
  query: (select, keys) => offeredWhere(select, sql`lower(${discounts.code}) = any(${textArrayParam(keys)})`),
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
) => readByCode[mode](db, organizationId, code.toLowerCase())

/** Sort key of the list. */
type Position = Pick<Discount, 'position' | 'id'>

/** Opaque cursor of a discount in the list. */
export const toCursor = ({ position, id }: Position): string => encodeCursor(`${position} ${id}`)

const shape = new RegExp(`^(\\d{1,9}) (${identifierPattern})$`)

/** Decodes a cursor. */
export const readCursor = cursorReader(shape, (position = '', id = ''): Position => {
  return { position: Number(position), id }
})

const listed = sql`(select * from ${discounts} where ${ofOrganization(discounts.organizationId)} and not ${discounts.removed}
  and (${discounts.position}, ${discounts.id}) > (${sql.placeholder('position')}::integer, ${sql.placeholder('id')}::text)
  order by ${discounts.position}, ${discounts.id} limit ${sql.placeholder('limit')}) as ${discounts}`

/** Lists discounts of an organization behind a position that can be claimed or will be, in the order of the catalogue,
 *  with the counters of their uses as they are now. */
export const listDiscounts = query<Discount>('list_discounts', {
  rows,
  // The page first: what is left of each is then found by its key, however many there are.
  query: (select) =>
    select
      .from(listed)
      .innerJoin(stock, isStockOf('discount', discounts.id))
      .where(and(inOrganization(stock.organizationId)))
      .orderBy(asc(discounts.position), asc(discounts.id)),
})
