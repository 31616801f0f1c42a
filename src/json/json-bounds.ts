import type { RequestLimits } from '../shared/request-limits.ts'

/** What of a value in JSON is more than it may be, as a sentence goes on; null where all of it is within the bounds.
 *  One pass, level by level and not by recursion, which ends where a bound is passed: it takes a microsecond for what
 *  is usual, and less than a millisecond for anything. */
export function findExcess(
  json: unknown,
  { maxJsonDepth, maxJsonWidth, maxJsonValues, maxNameLength }: RequestLimits,
): string | null {
  let level: object[] = typeof json === 'object' && json !== null ? [json] : []
  let values = 1
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxJsonDepth) return `must be nested at most ${maxJsonDepth} levels deep`
    const below: object[] = []
    for (const outer of level) {
      const inside: unknown[] = Array.isArray(outer) ? outer : Object.values(outer)
      if (inside.length > maxJsonWidth)
        return `must have at most ${maxJsonWidth} entries in a list, and fields in an object`
      values += inside.length
      if (values > maxJsonValues) return `must hold at most ${maxJsonValues} values`
      for (const value of inside) if (typeof value === 'object' && value !== null) below.push(value)
      if (inside !== outer && Object.keys(outer).some(({ length }) => length > maxNameLength))
        return `must have names of at most ${maxNameLength} characters`
    }
    level = below
  }
  return null
}
