import { refusal } from './errors.ts'

/** Opaque cursor of a position in a list. */
export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url')

/** Creates a reader of a list's cursors: `read` makes a position of what the groups of `shape` match, or null if that is none.
 *  The reader is told the name of the argument. Refuses: INVALID, for a text that is no such cursor. */
export const cursorReader =
  <Position>(shape: RegExp, read: (...groups: string[]) => Position | null) =>
  (cursor: string, name = 'after'): Position => {
    const found = shape.exec(Buffer.from(cursor, 'base64url').toString())
    const position = found && read(...found.slice(1))
    if (position === null) throw refusal('INVALID', `${name} must be a cursor of this list.`, [name])
    return position
  }
