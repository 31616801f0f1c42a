import { json } from '../../json/json-writer.ts'
import { isFast } from '../../shared/fast.ts'
import type { Write } from './complete-value.ts'

// As many as come between an object and its coming again, as a rule: the prices of a rate, some organizations.
const remembered = 8

/** Copies an object that was written a moment ago, in the same way: many events have one organization, and the current
 *  price is one of the prices. */
export function writeAgain(write: Write): Write {
  if (!isFast('repeat-object')) return write
  const values: unknown[] = Array(remembered).fill(null)
  const starts: number[] = Array(remembered).fill(0)
  const ends: number[] = Array(remembered).fill(0)
  let part = -1
  let next = 0
  return (value, run) => {
    if (part !== json.part) {
      part = json.part
      values.fill(null)
    }
    const known = values.indexOf(value)
    if (known >= 0) return json.copy(starts[known] ?? 0, ends[known] ?? 0)
    const start = json.at
    write(value, run)
    // What waits for something is in another part.
    if (part !== json.part) return
    values[next] = value
    starts[next] = start
    ends[next] = json.at
    next = (next + 1) % remembered
  }
}
