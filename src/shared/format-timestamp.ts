// Slow form: (date) => date.toISOString()

const digits = (length: number) =>
  Array.from({ length: 10 ** length }, (_, number) => String(number).padStart(length, '0'))
const two = digits(2)
const three = digits(3)

function format(date: Date): string {
  const year = date.getUTCFullYear()
  // Years of another length, and invalid dates.
  if (!(year >= 1000 && year <= 9999)) return date.toISOString()
  const day = `${year}-${two[date.getUTCMonth() + 1]}-${two[date.getUTCDate()]}`
  const time = `${two[date.getUTCHours()]}:${two[date.getUTCMinutes()]}:${two[date.getUTCSeconds()]}`
  return `${day}T${time}.${three[date.getUTCMilliseconds()]}Z`
}

// Direct-mapped cache. Events usually start on the hour and prices end on a few days, so timestamps repeat.
const slots = 4096
const minuteMs = 60_000
const times = new Float64Array(slots).fill(Number.NaN)
const texts: string[] = Array(slots).fill('')

/** Formats a timestamp as ISO 8601 in UTC with milliseconds (DECISIONS 1). Same output as toISOString, but faster: a
 *  page of events has a thousand timestamps. */
export function formatTimestamp(date: Date): string {
  const time = date.getTime()
  const slot = Math.abs(Math.trunc(time / minuteMs)) % slots
  if (times[slot] !== time) {
    texts[slot] = format(date)
    times[slot] = time
  }
  return texts[slot] ?? ''
}
