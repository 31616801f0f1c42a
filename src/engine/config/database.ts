import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'
import { tryParse } from '../base/parse.ts'
import { type ConfigOf, path } from './setting-types.ts'

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

// Parameters of other clients that change nothing here: the service has timeouts, pools and keepalive of its own, speaks
// UTF-8, and takes the certificate's proof instead of the connection's.
const ignored =
  /^(channel_binding|keepalives\w*|client_encoding|fallback_application_name|load_balance_hosts|sslcompression|sslsni|uselibpqcompat|gssdelegation|gsslib|krbsrvname|pgbouncer|connection_limit|pool_timeout|socket_timeout|statement_cache_size)=|^gssencmode=(disable|prefer)$|^schema=public$/

// The driver would send them to the server, which refuses what it doesn't know.
function withoutIgnored(url: string): string {
  const [, address = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(url) ?? []
  const kept = query.split('&').filter((parameter) => !ignored.test(parameter))
  return kept.join('&') ? `${address}?${kept.join('&')}` : address
}

/** Hosts of a PostgreSQL URL with their ports, without the brackets of IPv6. */
export const hostsOf = (url: string): { host: string; port: number }[] =>
  (hostList.exec(url)?.[2] ?? '').split(',').map((named) => {
    const [, host = '', port = '5432'] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(named) ?? []
    return { host, port: Number(port) }
  })

const databaseUrl = z
  .string()
  .refine(isDatabaseUrl, 'must be a postgres:// address')
  .refine(
    namesNoCertificate,
    'must name no certificate: set DATABASE_SSL_CA, or DATABASE_SSL_CERT and DATABASE_SSL_KEY',
  )
  .transform(withoutIgnored)

/** Environment variables for the database, used under their names in camel case. */
export const databaseSettings = z.object({
  DATABASE_URL: databaseUrl.optional(),
  /** `transaction` if DATABASE_URL leads to a pooler in transaction mode. */
  DATABASE_POOLER: z.enum(['none', 'transaction']).default('none'),
  /** URL of the database itself behind a pooler, for work that needs a session. */
  DIRECT_DATABASE_URL: databaseUrl.optional(),
  /** Replicas for shared reads. */
  DATABASE_REPLICA_URLS: z.string().transform(splitDatabaseUrls).pipe(z.array(databaseUrl)).default([]),
  DATA_DIR: path.prefault('data'),
})

const certificate = z
  .string()
  .refine((pem) => tryParse(() => new X509Certificate(pem)) !== undefined, 'must be a certificate in PEM')

/** Environment variables for TLS to the database. */
export const databaseTlsSettings = z.object({
  DATABASE_SSL: z.enum(['disable', 'require', 'verify-ca', 'verify-full']).optional(),
  DATABASE_SSL_CA: certificate.optional(),
  DATABASE_SSL_CERT: certificate.optional(),
  DATABASE_SSL_KEY: z
    .string()
    .refine(
      (pem) => tryParse(() => createPrivateKey(pem)) !== undefined,
      'must be a private key in PEM, without a password',
    )
    .optional(),
})

/** Settings of certificates and of their key. */
export const certificates = ['DATABASE_SSL_CA', 'DATABASE_SSL_CERT', 'DATABASE_SSL_KEY'] as const

/** Reports whether a private key is that of a certificate, both in PEM. */
export const isKeyOf = (certificate: string, key: string): boolean =>
  new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))

/** TLS to the database. */
export type DatabaseTls = NonNullable<ReturnType<typeof databaseTlsOf>>

/** Builds the settings of TLS; null if nothing is set. A certificate without a mode means `verify-full`. `mode` is of
 *  URLs that name no `sslmode`, in the words of libpq; `ca` are authorities in PEM that the server's certificate is
 *  verified with, instead of those of Node; `cert` and `key`, in PEM, are what this client shows. */
export function databaseTlsOf(settings: z.output<typeof databaseTlsSettings>) {
  const [ca, cert, key] = certificates.map((name) => settings[name])
  const mode = settings.DATABASE_SSL ?? (ca || cert ? 'verify-full' : undefined)
  return mode ? { mode, ca, cert, key } : null
}

/** Settings of the database. */
export type DatabaseConfig = ConfigOf<typeof databaseSettings.shape> & { databaseTls: DatabaseTls | null }
