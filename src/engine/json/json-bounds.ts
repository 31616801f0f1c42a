import { requestLimits } from '../base/request-limits.ts'

const { maxJsonDepth, maxJsonWidth, maxJsonValues, maxNameLength } = requestLimits

/** Finds the first limit that a JSON value exceeds, as the predicate of a sentence; null if it is within all
 *  of them. One pass by level, without recursion, which stops at the first excess: a microsecond for usual
 *  values, less than a millisecond for any. */
export function findExcess(json: unknown): string | null {
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
