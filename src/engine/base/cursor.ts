import { refusal } from './errors.ts'

/** Opaque cursor of a position in a list. */
export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url')

/** Reads the position that a cursor encodes, of the argument with this name. `read` returns null for a text that is no
 *  position. Refuses: INVALID, for such a text. */
export function decodeCursor<Position>(
  cursor: string,
  read: (position: string) => Position | null,
  name = 'after',
): Position {
  const position = read(Buffer.from(cursor, 'base64url').toString())
  if (position === null) throw refusal('INVALID', `${name} must be a cursor of this list.`, [name])
  return position
}
