import { Refusal } from '../../shared/errors.ts'
import { isStorableDate } from '../../shared/input-types.ts'
import type { Event } from './table.ts'

type Place = Pick<Event, 'startDate' | 'id'>

/** An event's place in the list, as an opaque text; null for no event. */
export const toCursor = (event: Place | undefined): string | null =>
  event ? Buffer.from(`${event.startDate.getTime()} ${event.id}`).toString('base64url') : null

/** The place that a cursor tells. Refuses: INVALID, for what is no cursor of ours. */
export function readCursor(cursor: string): Place {
  const match = /^(-?\d{1,15}) ([\w.:-]{1,64})$/.exec(Buffer.from(cursor, 'base64url').toString())
  const startDate = new Date(Number(match?.[1]))
  if (!match?.[2] || !isStorableDate(startDate))
    throw new Refusal({ code: 'INVALID', message: 'after must be a cursor of this list.', path: ['after'] })
  return { startDate, id: match[2] }
}
