import { isFast } from './fast.ts'

const fast = isFast('format-timestamp')

const digits = (length: number) =>
  Array.from({ length: 10 ** length }, (_, number) => String(number).padStart(length, '0'))
const twoDigits = digits(2)
const threeDigits = digits(3)

function format(date: Date): string {
  const year = date.getUTCFullYear()
  // Years without four digits, and invalid dates.
  if (!(year >= 1000 && year <= 9999)) return date.toISOString()
  const day = `${year}-${twoDigits[date.getUTCMonth() + 1]}-${twoDigits[date.getUTCDate()]}`
  const time = `${twoDigits[date.getUTCHours()]}:${twoDigits[date.getUTCMinutes()]}:${twoDigits[date.getUTCSeconds()]}`
  return `${day}T${time}.${threeDigits[date.getUTCMilliseconds()]}Z`
}

// Direct-mapped cache: events begin on the hour and prices end on few days, so timestamps recur.
const slots = 4096
const minute = 60_000
const times = new Float64Array(slots).fill(Number.NaN)
const texts: string[] = Array(slots).fill('')

/** Formats a timestamp in ISO 8601, UTC, with milliseconds (DECISIONS 1). Optimized, because a page of events
 *  has a thousand of them. Slow form: `(date) => date.toISOString()`. */
export function formatTimestamp(date: Date): string {
  if (!fast) return date.toISOString()
  const time = date.getTime()
  const slot = Math.abs(Math.trunc(time / minute)) % slots
  if (times[slot] !== time) {
    texts[slot] = format(date)
    times[slot] = time
  }
  return texts[slot] ?? ''
}
