import { isIP } from 'node:net'
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls'
import type postgres from 'postgres'
import type { DatabaseTls } from '../config/database-tls.ts'

type Ssl = postgres.Sql['options']['ssl']

// The driver gives TLS the name of the host, but no address, and TLS then verifies «localhost» instead.
const identityOf = (hosts: string[]) => (name: string, certificate: PeerCertificate) => {
  const wanted = hosts.includes(name) ? [name] : hosts.filter((host) => isIP(host))
  const errors = wanted.map((host) => checkServerIdentity(host, certificate))
  return errors.includes(undefined) ? undefined : (errors[0] ?? checkServerIdentity(name, certificate))
}

/** Returns the driver's setting of TLS for a URL that it has parsed into `settings`. As with libpq, the URL's
 *  `sslmode` wins over the common mode, `require` verifies nothing unless there are authorities of our own,
 *  `verify-ca` verifies the certificate, and `verify-full` its name too. */
export function tlsOf(url: string, { ssl, host }: postgres.Sql['options'], tls: DatabaseTls | null): Ssl {
  const [, named] = /[?&]sslmode=([\w-]+)/.exec(url) ?? []
  const mode = named ?? (ssl || tls?.mode || 'disable')
  if (mode === 'disable') return false
  if (mode === 'allow' || mode === 'prefer') return mode
  const { ca, cert, key } = tls ?? {}
  const options: ConnectionOptions = { ca, cert, key }
  if (mode === 'require' && !ca) options.rejectUnauthorized = false
  else if (mode === 'require' || mode === 'verify-ca') options.checkServerIdentity = () => undefined
  else options.checkServerIdentity = identityOf(host)
  return options
}
