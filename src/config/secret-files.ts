/** Settings that may also come from a file, as secrets of containers do:
 *  `STRIPE_SECRET_KEY_FILE=/run/secrets/stripe` instead of `STRIPE_SECRET_KEY`. */
export const secretSettings = [
  'DATABASE_URL',
  'DIRECT_DATABASE_URL',
  'DATABASE_REPLICA_URLS',
  'DATABASE_SSL_CA',
  'DATABASE_SSL_CERT',
  'DATABASE_SSL_KEY',
  'SMTP_URL',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'WHATSAPP_TOKEN',
] as const

type Environment = Record<string, string | undefined>

/** Reads the settings that `…_FILE` variables name a file for, without the line break at its end. Lists the
 *  files that can't be read, and settings that are given twice; names no content. */
export function readSecretFiles(
  env: Environment,
  readFile: (path: string) => string,
): { env: Environment; mistakes: string[] } {
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
