import ical, { ICalCalendarMethod } from 'ical-generator'
import { placeOf } from '../event/local-time.ts'
import type { Sheet } from './find-sheets.ts'

/** Writes an event as an iCalendar file, with times in UTC so that every calendar shows them right. The UID
 *  is stable, so that sending it again updates the same entry; `domain` is its namespace. */
export function writeCalendar({ event, location, organizationName }: Sheet, domain: string): string {
  const calendar = ical({
    prodId: { company: 'Boxoffice', product: 'tickets', language: 'EN' },
    method: ICalCalendarMethod.PUBLISH,
  })
  const place = placeOf(location)
  const [lat, lon] = [location?.latitude ?? null, location?.longitude ?? null]
  calendar.createEvent({
    id: `${event.id}@${domain}`,
    start: event.startDate,
    end: event.endDate,
    summary: event.name,
    description: `By ${organizationName}. Your ticket is attached to the same mail.`,
    location:
      place !== '' ? { title: place, ...(lat !== null && lon !== null ? { geo: { lat, lon } } : {}) } : null,
  })
  return `${calendar.toString()}\r\n`
}
