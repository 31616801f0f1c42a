import { isFast } from './fast.ts'

const fast = isFast('format-timestamp')

const digits = (length: number) =>
  Array.from({ length: 10 ** length }, (_, number) => String(number).padStart(length, '0'))
const two = digits(2)
const three = digits(3)

function print(moment: Date): string {
  const year = moment.getUTCFullYear()
  // Another number of digits, or no moment at all.
  if (!(year >= 1000 && year <= 9999)) return moment.toISOString()
  const date = `${year}-${two[moment.getUTCMonth() + 1]}-${two[moment.getUTCDate()]}`
  const hour = `${two[moment.getUTCHours()]}:${two[moment.getUTCMinutes()]}:${two[moment.getUTCSeconds()]}`
  return `${date}T${hour}.${three[moment.getUTCMilliseconds()]}Z`
}

// Events begin on the hour as a rule, and prices end on a few days: the same moments are printed again and again.
const places = 4096
const minute = 60_000
const times = new Float64Array(places).fill(Number.NaN)
const texts: string[] = Array(places).fill('')

/** A moment as both surfaces print it, ISO 8601 in UTC with milliseconds (DECISIONS 1): as toISOString does, in less of
 *  the time, because a page has a thousand of them. */
export function printMoment(moment: Date): string {
  if (!fast) return moment.toISOString()
  const time = moment.getTime()
  const place = Math.abs(Math.trunc(time / minute)) % places
  if (times[place] !== time) {
    texts[place] = print(moment)
    times[place] = time
  }
  return texts[place] ?? ''
}
