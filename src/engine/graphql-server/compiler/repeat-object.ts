// Slow form: (completeValue) => completeValue, by which a page takes 1.2 times as long (docs/performance.md).

import { isFast } from '../../base/fast.ts'
import { json } from '../../json/json-writer.ts'
import type { CompleteValue } from './complete-value.ts'

// Covers the usual distance between two occurrences of an object: the parts of one, a few organizations.
const maxRemembered = 8

/** Copies the bytes of an object that was completed a moment ago instead of completing it again: many objects share
 *  one organization. */
export function repeatObject(completeValue: CompleteValue): CompleteValue {
  if (!isFast('repeat-object')) return completeValue
  const values: unknown[] = Array(maxRemembered).fill(null)
  const starts: number[] = Array(maxRemembered).fill(0)
  const ends: number[] = Array(maxRemembered).fill(0)
  let part = -1
  let next = 0
  return (value, response) => {
    if (part !== json.part) {
      part = json.part
      values.fill(null)
    }
    const known = values.indexOf(value)
    if (known >= 0) return json.copy(starts[known] ?? 0, ends[known] ?? 0)
    const start = json.position
    completeValue(value, response)
    // An object with a deferred field continues in another part, so there is no range to copy.
    if (part !== json.part) return
    values[next] = value
    starts[next] = start
    ends[next] = json.position
    next = (next + 1) % maxRemembered
  }
}
