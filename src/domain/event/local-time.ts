import { formatDay, formatTime } from '../../language/format.ts'
import type { Language } from '../../language/languages.ts'
import { translate } from '../../language/translate.ts'

type Venue = { name: string | null; address: string | null; city: string | null; timezone: string }
type Event = { startDate: Date; displayDate: Date | null }

/** Formats a time in the time zone of the venue, such as 00:30 CEST. */
export const localTime = (language: Language, date: Date, location: Venue | null): string =>
  formatTime(language, date, location?.timezone ?? 'UTC')

/** Formats the start of an event in the time zone of its venue. The date is `displayDate` if the organization
 *  gives one, such as the evening before for a night that begins after midnight. */
export const localStart = (
  language: Language,
  { startDate, displayDate }: Event,
  location: Venue | null,
): string =>
  translate(language, 'event.start', {
    date: formatDay(language, displayDate ?? startDate, location?.timezone ?? 'UTC'),
    time: localTime(language, startDate, location),
  })

/** Formats name and address of a venue on one line; '' if there is none. */
export const placeOf = (location: Venue | null): string =>
  [location?.name, location?.address, location?.city].filter(Boolean).join(', ')
