import { hourMs } from '../../engine/base/timers.ts'
import { formatDay, formatTime } from '../language/format.ts'
import type { Language } from '../language/languages.ts'
import { translate } from '../language/translate.ts'

type Venue = Record<'locationName' | 'address' | 'city' | 'timezone', string | null>
type Event = { startDate: Date; endDate?: Date; displayDate: Date | null } & Pick<Venue, 'timezone'>

// An event of a day may end in the small hours of the next one, and so may the last day of several.
const smallHours = 6 * hourMs
const lastDayOf = (first: Date, end: Date) =>
  end.getTime() - first.getTime() > 24 * hourMs ? new Date(end.getTime() - smallHours) : first

/** Formats a time in the time zone of the venue, such as 00:30 CEST; in UTC without a venue. */
export const localTime = (language: Language, date: Date, { timezone }: Pick<Venue, 'timezone'>): string =>
  formatTime(language, date, timezone ?? 'UTC')

/** Formats the start of an event in the time zone of its venue. The date is `displayDate` if the organization
 *  gives one, such as the evening before for a night that begins after midnight; of several days, the first and
 *  the last. */
export function formatStart(
  language: Language,
  { startDate, endDate = startDate, displayDate, timezone }: Event,
): string {
  const first = displayDate ?? startDate
  return translate(language, 'event.start', {
    date: formatDay(language, first, timezone ?? 'UTC', lastDayOf(first, endDate)),
    time: localTime(language, startDate, { timezone }),
  })
}

/** Formats name and address of a venue on one line; '' if there is none. */
export const formatVenue = ({ locationName, address, city }: Venue): string =>
  [locationName, address, city].filter(Boolean).join(', ')
