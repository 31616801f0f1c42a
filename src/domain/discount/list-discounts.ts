import { and, asc, eq, not, sql } from 'drizzle-orm'
import type { Connection } from '../../database/database.ts'
import { Refusal } from '../../shared/errors.ts'
import { identifierPattern } from '../../shared/ids.ts'
import type { Mode } from '../../shared/mode.ts'
import { stock } from '../ticket-rate/table.ts'
import { discountColumns } from './loaders.ts'
import { type Discount, discounts } from './table.ts'

/** Sort key of the list. */
type Position = Pick<Discount, 'position' | 'id'>

/** Opaque cursor of a discount in the list. */
export const toCursor = ({ position, id }: Position): string =>
  Buffer.from(`${position} ${id}`).toString('base64url')

const shape = new RegExp(`^(\\d{1,9}) (${identifierPattern})$`)

/** Decodes a cursor. Refuses: INVALID, for a text that is not such a cursor. */
export function readCursor(cursor: string): Position {
  const match = shape.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match?.[2])
    throw new Refusal({ code: 'INVALID', message: 'after must be a cursor of this list.', path: ['after'] })
  return { position: Number(match[1]), id: match[2] }
}

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
