type Venue = { name: string | null; address: string | null; city: string | null; timezone: string }
type Event = { startDate: Date; displayDate: Date | null }

const dayFormat = (timeZone: string) => new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone })
const timeFormat = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone, timeZoneName: 'short' })

/** Formats a time in the time zone of the venue, such as 00:30 CEST. */
export const localTime = (date: Date, location: Venue | null): string =>
  timeFormat(location?.timezone ?? 'UTC').format(date)

/** Formats the start of an event in the time zone of its venue. The date is `displayDate` if the organization
 *  gives one, such as the evening before for a night that begins after midnight. */
export const localStart = ({ startDate, displayDate }: Event, location: Venue | null): string =>
  `${dayFormat(location?.timezone ?? 'UTC').format(displayDate ?? startDate)}, ${localTime(startDate, location)}`

/** Formats name and address of a venue on one line; '' if there is none. */
export const placeOf = (location: Venue | null): string =>
  [location?.name, location?.address, location?.city].filter(Boolean).join(', ')
