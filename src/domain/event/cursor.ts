import { Refusal } from '../../shared/errors.ts'
import { identifierPattern } from '../../shared/ids.ts'
import { isStorableDate } from '../../shared/input-types.ts'
import type { Event } from './table.ts'

/** Sort key of the list. */
type Position = Pick<Event, 'startDate' | 'id'>

/** Opaque cursor of an event in the list. */
export const toCursor = ({ startDate, id }: Position): string =>
  Buffer.from(`${startDate.getTime()} ${id}`).toString('base64url')

const shape = new RegExp(`^(-?\\d{1,15}) (${identifierPattern})$`)

/** Decodes a cursor, of the argument with this name. Refuses: INVALID, for a text that is not such a cursor. */
export function readCursor(cursor: string, name = 'after'): Position {
  const match = shape.exec(Buffer.from(cursor, 'base64url').toString())
  const startDate = new Date(Number(match?.[1]))
  if (!match?.[2] || !isStorableDate(startDate))
    throw new Refusal({ code: 'INVALID', message: `${name} must be a cursor of this list.`, path: [name] })
  return { startDate, id: match[2] }
}
