import { Refusal } from '../../shared/errors.ts'
import { identifierPattern } from '../../shared/ids.ts'
import { isStorableDate } from '../../shared/input-types.ts'

/** Property that a list is ordered by, ties by identifier. */
export type SortKey = 'created' | 'name' | 'phone'

/** Place in a list: milliseconds since 1970 or a text, by its sort key, and the identifier of a ticket. */
export type Place = { key: string; id: string }

/** A row and its place in the list that it was found in: `placeKey` is its key behind `keyPrefix`. */
export type Placed<Row> = Row & { placeKey: string; placeId: string }

/** Letter that tells the places of an order from those of others. */
export const keyPrefix: Record<SortKey, string> = {
  created: 'c',
  name: 'n',
  phone: 't',
}

export const isTime = (sortKey: SortKey): boolean => sortKey === 'created'

/** Place of a row. */
export const placeOf = ({ placeKey, placeId }: Placed<unknown>): Place => ({
  key: placeKey.slice(1),
  id: placeId,
})

/** Opaque cursor of a row. It says nothing that the row does not. */
export const toCursor = ({ placeKey, placeId }: Placed<unknown>): string =>
  Buffer.from(`${placeId} ${placeKey}`).toString('base64url')

/** Opaque cursor of a place. */
export const toPlaceCursor = (sortKey: SortKey, { key, id }: Place): string =>
  toCursor({ placeKey: keyPrefix[sortKey] + key, placeId: id })

// A name has 200 characters, each of which folds into a few at most.
const maxCursor = 4_000
const shape = new RegExp(`^(${identifierPattern}) (\\w)([^\\p{Cc}]{1,3000})$`, 'u')

const isKeyOf = (sortKey: SortKey, key: string): boolean =>
  isTime(sortKey) ? /^-?\d{1,15}$/.test(key) && isStorableDate(new Date(Number(key))) : key.isWellFormed()

/** Decodes a cursor of a list with this order. `name` is the argument that holds it. Refuses: INVALID, for a
 *  text that is no such cursor. */
export function readCursor(sortKey: SortKey, cursor: string, name: string): Place {
  const text = cursor.length > maxCursor ? '' : Buffer.from(cursor, 'base64url').toString()
  const [, id, letter, key] = shape.exec(text) ?? []
  if (letter !== keyPrefix[sortKey] || !id || !key || !isKeyOf(sortKey, key))
    throw new Refusal({
      code: 'INVALID',
      message: `${name} must be a cursor of a list in this order.`,
      path: [name],
    })
  return { key, id }
}
