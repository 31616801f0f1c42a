import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'

// Hosts of a URL, between the credentials and the path.
const hostList = /^([^:]+:\/\/(?:[^@/?#]*@)?)([^/?#]*)/

const sessionAttributes = ['read-write', 'read-only', 'primary', 'standby', 'prefer-standby']
const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** Reports whether no certificate is named in a URL. The driver would send them to the server, which refuses
 *  them. */
const namesNoCertificate = (url: string): boolean => !/[?&]ssl(rootcert|cert|key)=/.test(url)

/** Reports whether a text is a PostgreSQL URL: `postgres://`, with one or several hosts (`h1:5432,h2:5432`),
 *  and with `target_session_attrs` as in libpq, except `any`, and `sslmode`. */
function isDatabaseUrl(address: string): boolean {
  const [, before = '', hosts = ''] = hostList.exec(address) ?? []
  const addresses = hosts
    .split(',')
    .map((host) => before + host + address.slice(before.length + hosts.length))
  return addresses.every((url) => {
    if (!URL.canParse(url)) return false
    const { protocol, searchParams } = new URL(url)
    const isOneOf = (name: string, values: string[]) => {
      const value = searchParams.get(name)
      return value === null || values.includes(value)
    }
    return (
      /^postgres(ql)?:$/.test(protocol) &&
      isOneOf('target_session_attrs', sessionAttributes) &&
      isOneOf('sslmode', sslModes)
    )
  })
}

/** Splits a comma-separated list of URLs. A URL with several hosts contains commas too, so only a comma
 *  before a scheme separates. */
const splitDatabaseUrls = (list: string): string[] => list.split(/,\s*(?=\w+:\/\/|$)/).filter(Boolean)

const databaseUrl = z
  .string()
  .refine(isDatabaseUrl, 'must be a postgres:// address')
  .refine(
    namesNoCertificate,
    'must name no certificate: set DATABASE_SSL_CA, or DATABASE_SSL_CERT and DATABASE_SSL_KEY',
  )

/** Environment variables for the database, used under their names in camel case. */
export const databaseSettings = z.object({
  DATABASE_URL: databaseUrl.optional(),
  /** `transaction` if DATABASE_URL leads to a pooler in transaction mode. */
  DATABASE_POOLER: z.enum(['none', 'transaction']).default('none'),
  /** URL of the database itself behind a pooler, for work that needs a session. */
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  /** Read replicas for the catalogue. */
  DATABASE_REPLICA_URLS: z.string().transform(splitDatabaseUrls).pipe(z.array(databaseUrl)).default([]),
  DATA_DIR: z
    .string()
    .min(1)
    .default('data')
    .transform((path) => (isAbsolute(path) ? path : resolve(path))),
})

type Settings = z.output<typeof databaseSettings> & {
  WEB_CONCURRENCY: number
  BACKGROUND: 'on' | 'off' | 'only'
}

/** Lists settings that the embedded database contradicts: it belongs to one process. */
export function embeddedContradictionsIn(settings: Settings): string[] {
  if (settings.DATABASE_URL) return []
  const mistakes: string[] = []
  if (settings.BACKGROUND !== 'on')
    mistakes.push('BACKGROUND: the embedded database belongs to one process, which does both')
  if (settings.WEB_CONCURRENCY > 1)
    mistakes.push(
      'WEB_CONCURRENCY: the embedded database belongs to one process; more than 1 needs DATABASE_URL',
    )
  if (settings.DATABASE_POOLER !== 'none') mistakes.push('DATABASE_POOLER: needs DATABASE_URL')
  if (settings.DIRECT_DATABASE_URL) mistakes.push('DIRECT_DATABASE_URL: needs DATABASE_URL')
  if (settings.DATABASE_REPLICA_URLS.length > 0) mistakes.push('DATABASE_REPLICA_URLS: needs DATABASE_URL')
  return mistakes
}
