import { closest, distance } from 'fastest-levenshtein'

// Shorter names are as near to those of other programs: HOME is to HOST, and PORT to PATH.
const minLength = 7
const maxDistance = 2

/** Lists environment variables that are probably settings misspelt, each with the name that was meant; never a
 *  value. `known` are all names that the service reads. */
export function misspeltSettings(
  env: Record<string, string | undefined>,
  known: readonly string[],
): string[] {
  const long = known.filter((name) => name.length >= minLength)
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name)) return []
    const nearest = closest(name.toUpperCase(), long)
    return distance(name.toUpperCase(), nearest) <= maxDistance
      ? [`${name} is no setting: ${nearest} may be meant`]
      : []
  })
}
