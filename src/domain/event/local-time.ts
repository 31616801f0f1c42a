import { hourMs } from '../../engine/base/timers.ts'
import { formatDay, formatTime } from '../language/format.ts'
import type { Language } from '../language/languages.ts'
import { translate } from '../language/translate.ts'

type Venue = Record<'locationName' | 'address' | 'city' | 'timezone', string | null>
type Event = { startDate: Date; endDate?: Date; displayDate: Date | null } & Pick<Venue, 'timezone'>

// Made once for each zone, which takes long.
const clocks = new Map<string, Intl.DateTimeFormat>()

/** Reads the clock of a time zone, and returns the moment (in ms) when UTC shows the same. */
export function clockAt(moment: Date | number, timeZone: string): number {
  // Swedish writes 2027-06-01 20:00:00.
  const options = { timeZone, dateStyle: 'short', timeStyle: 'medium' } as const
  const clock = clocks.get(timeZone) ?? new Intl.DateTimeFormat('sv-SE', options)
  clocks.set(timeZone, clock)
  return Date.parse(`${clock.format(moment).replace(' ', 'T')}Z`)
}

// The last day of several may end in the small hours of the next one.
const smallHours = 6 * hourMs

/** Formats a time in the time zone of the venue, such as 00:30 CEST; in UTC without a venue. */
export const localTime = (language: Language, date: Date, { timezone }: Pick<Venue, 'timezone'>): string =>
  formatTime(language, date, timezone ?? 'UTC')

/** Formats the start of an event in the time zone of its venue. The date is `displayDate` if the organization
 *  gives one, such as the evening before for a night that begins after midnight; if more than 24 hours pass on the
 *  venue's clock, the first day and the last (DECISIONS 74). */
export function formatStart(
  language: Language,
  { startDate, endDate = startDate, displayDate, timezone }: Event,
): string {
  const [first, start, end] = [displayDate ?? startDate, startDate, endDate].map((moment) =>
    clockAt(moment, timezone ?? 'UTC'),
  ) as [number, number, number]
  const last = end - start > 24 * hourMs ? end - smallHours : first
  return translate(language, 'event.start', {
    date: formatDay(language, new Date(first), 'UTC', new Date(last)),
    time: localTime(language, startDate, { timezone }),
  })
}

/** Formats name and address of a venue on one line; '' if there is none. */
export const formatVenue = ({ locationName, address, city }: Venue): string =>
  [locationName, address, city].filter(Boolean).join(', ')
