import { and, asc, eq, not, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { decodeCursor, encodeCursor } from '../../shared/cursor.ts'
import { identifierPattern } from '../../shared/ids.ts'
import type { Mode } from '../../shared/mode.ts'
import { stock } from '../ticket-rate/table.ts'
import { discountColumns } from './loaders.ts'
import { type Discount, discounts } from './table.ts'

/** Sort key of the list. */
type Position = Pick<Discount, 'position' | 'id'>

/** Opaque cursor of a discount in the list. */
export const toCursor = ({ position, id }: Position): string => encodeCursor(`${position} ${id}`)

const shape = new RegExp(`^(\\d{1,9}) (${identifierPattern})$`)

/** Decodes a cursor. Refuses: INVALID, for a text that is not such a cursor. */
export const readCursor = (cursor: string): Position =>
  decodeCursor(cursor, (text) => {
    const [, position, id] = shape.exec(text) ?? []
    return id ? { position: Number(position), id } : null
  })

/** Lists the discounts of an organization that can be claimed or will be, in the order of the catalogue, with
 *  the counters of their uses as they are now. */
export const listDiscounts = (
  db: Connection,
  mode: Mode,
  organizationId: string,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<Discount[]> =>
  db
    .select(discountColumns)
    .from(discounts)
    .innerJoin(stock, and(eq(stock.id, discounts.id), eq(stock.kind, 'discount'), eq(stock.mode, mode)))
    .where(
      and(
        eq(discounts.organizationId, organizationId),
        not(discounts.removed),
        after &&
          sql`(${discounts.position}, ${discounts.id}) > (${after.position}::integer, ${after.id}::text)`,
      ),
    )
    .orderBy(asc(discounts.position), asc(discounts.id))
    .limit(limit)
