import { closest, distance } from 'fastest-levenshtein'

/** Environment variables. */
export type Environment = Record<string, string | undefined>

/** Reads the settings that `…_FILE` variables name a file for, without the line break at its end. Lists the
 *  files that can't be read, and settings that are given twice; names no content. */
export function readSecretFiles(
  env: Environment,
  secretSettings: readonly string[],
  readFile: (path: string) => string,
) {
  const read: Environment = { ...env }
  const mistakes: string[] = []
  for (const name of secretSettings) {
    const path = env[`${name}_FILE`]
    if (!path) continue
    if (env[name]) mistakes.push(`${name}_FILE: ${name} is set as well; set one of the two`)
    else
      try {
        read[name] = readFile(path).replace(/\r?\n$/, '')
        if (read[name] === '') mistakes.push(`${name}_FILE: the file is empty`)
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? ` (${error.code})` : ''
        mistakes.push(`${name}_FILE: the file can't be read${code}`)
      }
  }
  return { env: read, mistakes }
}

// Shorter names are as near to those of other programs: HOME is to HOST, and PORT to PATH.
const minLength = 7
const maxDistance = 2

/** Lists environment variables that are probably settings misspelt, each with the name that was meant; never a
 *  value. `known` are all names that the service reads. */
export function misspeltSettings(env: Environment, known: readonly string[]): string[] {
  const long = known.filter((name) => name.length >= minLength)
  return Object.keys(env).flatMap((name) => {
    if (known.includes(name)) return []
    const nearest = closest(name.toUpperCase(), long)
    return distance(name.toUpperCase(), nearest) <= maxDistance
      ? [`${name} is no setting: ${nearest} may be meant`]
      : []
  })
}
