import type { ShownEventFragment } from './documents.ts'

const escaped = (text: string) => text.replace(/[\\;,]/g, '\\$&').replace(/\r?\n/g, '\\n')
const utc = (iso: string) => iso.replace(/[-:]|\.\d+/g, '')

/** Address of an event as a file for a calendar (RFC 5545), which this page holds. Times are in UTC. */
export function calendarUrl({ id, name, startDate, endDate, location: place }: ShownEventFragment): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Boxoffice//shop//EN',
    'BEGIN:VEVENT',
    `UID:${id}@${location.hostname}`,
    `DTSTAMP:${utc(new Date().toISOString())}`,
    `DTSTART:${utc(startDate)}`,
    `DTEND:${utc(endDate)}`,
    `SUMMARY:${escaped(name)}`,
    ...(place
      ? [`LOCATION:${escaped([place.name, place.address, place.city].filter(Boolean).join(', '))}`]
      : []),
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]
  return URL.createObjectURL(new Blob([lines.join('\r\n')], { type: 'text/calendar' }))
}
