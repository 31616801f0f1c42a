import { z } from 'zod'
import { hour } from '../../shared/hour.ts'
import { isStorableDate } from '../../shared/input-types.ts'

// Moment that the clocks of a time zone show, as if it were in UTC. Swedish writes 2027-06-01 20:00:00.
function clockAt(moment: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return Date.parse(`${format.format(moment).replace(' ', 'T')}Z`)
}

// First moment of a day; on a day that has no midnight, the one after the gap.
function startOfDay(utc: number, timeZone: string): number {
  const offsetAt = (moment: number) => clockAt(moment, timeZone) - moment
  const guess = utc - offsetAt(utc)
  return Math.max(guess, utc - offsetAt(guess))
}

const begins = ['start_date', 'display_date', 'valid_from']
const ends = ['end_date', 'valid_until']

/** Replaces the plain dates of an object of the file by moments at its venue: the first of the day, and of an end
 *  the last (DECISIONS 221). Leaves anything that is no date for the parser to refuse. */
export function withMoments(raw: unknown, timeZone: string): unknown {
  if (typeof raw !== 'object' || raw === null) return raw
  const momentOf = ([field, value]: [string, unknown]) => {
    const isEnd = ends.includes(field)
    const day = isEnd || begins.includes(field) ? z.iso.date().safeParse(value).data : undefined
    if (day === undefined) return [field, value]
    const start = startOfDay(Date.parse(day) + (isEnd ? 24 * hour : 0), timeZone)
    const moment = new Date(isEnd ? start - 1 : start)
    return [field, isStorableDate(moment) ? moment.toISOString() : value]
  }
  return Object.fromEntries(Object.entries(raw).map(momentOf))
}
