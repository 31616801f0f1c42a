type Place = { name: string | null; address: string | null; city: string | null; timezone: string }
type Event = { startDate: Date; displayDate: Date | null }

const dayFormat = (timeZone: string) => new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone })
const timeFormat = (timeZone: string) =>
  new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone, timeZoneName: 'short' })

/** The clock on the wall of the place: 00:30 CEST. */
export const localTime = (moment: Date, location: Place | null): string =>
  timeFormat(location?.timezone ?? 'UTC').format(moment)

/** When an event begins, by the clock of its place. A night that begins after midnight is named by the day before,
 *  where the organization says so. */
export const localStart = ({ startDate, displayDate }: Event, location: Place | null): string =>
  `${dayFormat(location?.timezone ?? 'UTC').format(displayDate ?? startDate)}, ${localTime(startDate, location)}`

/** Where it is, on one line; '' where nobody said. */
export const placeOf = (location: Place | null): string =>
  [location?.name, location?.address, location?.city].filter(Boolean).join(', ')
