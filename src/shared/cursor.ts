import { refusal } from './errors.ts'

/** Opaque cursor of a place in a list. */
export const encodeCursor = (place: string): string => Buffer.from(place).toString('base64url')

/** Reads the place that a cursor encodes, of the argument with this name. `read` returns null for a text that is no
 *  place. Refuses: INVALID, for such a text. */
export function decodeCursor<Place>(
  cursor: string,
  read: (place: string) => Place | null,
  name = 'after',
): Place {
  const place = read(Buffer.from(cursor, 'base64url').toString())
  if (place === null) throw refusal('INVALID', `${name} must be a cursor of this list.`, [name])
  return place
}
