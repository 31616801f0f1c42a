import { createPrivateKey, X509Certificate } from 'node:crypto'
import { z } from 'zod'

const modes = ['disable', 'require', 'verify-ca', 'verify-full'] as const

/** TLS to the database. */
export type DatabaseTls = {
  /** Mode of URLs that name no `sslmode`, in the words of libpq. */
  mode: (typeof modes)[number]
  /** Certificates in PEM: authorities that the server's is verified with, instead of those of Node. */
  ca: string | undefined
  /** Certificate and key in PEM that this client shows. */
  cert: string | undefined
  key: string | undefined
}

function isParsed(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch {
    return false
  }
}

const certificate = z
  .string()
  .refine((pem) => isParsed(() => new X509Certificate(pem)), 'must be a certificate in PEM')

/** Environment variables for TLS to the database. */
export const databaseTlsSettings = {
  DATABASE_SSL: z.enum(modes).optional(),
  DATABASE_SSL_CA: certificate.optional(),
  DATABASE_SSL_CERT: certificate.optional(),
  DATABASE_SSL_KEY: z
    .string()
    .refine(
      (pem) => isParsed(() => createPrivateKey(pem)),
      'must be a private key in PEM, without a password',
    )
    .optional(),
}

type Settings = {
  DATABASE_URL?: string
  DIRECT_DATABASE_URL?: string
  DATABASE_REPLICA_URLS: string[]
  DATABASE_SSL?: DatabaseTls['mode']
  DATABASE_SSL_CA?: string
  DATABASE_SSL_CERT?: string
  DATABASE_SSL_KEY?: string
}

const certificates = ['DATABASE_SSL_CA', 'DATABASE_SSL_CERT', 'DATABASE_SSL_KEY'] as const

/** Lists settings that contradict each other. */
export function databaseTlsContradictionsIn(settings: Settings): string[] {
  const { DATABASE_SSL_CERT: cert, DATABASE_SSL_KEY: key } = settings
  const mistakes: string[] = []
  if (cert && !key) mistakes.push('DATABASE_SSL_KEY: required with DATABASE_SSL_CERT')
  if (key && !cert) mistakes.push('DATABASE_SSL_CERT: required with DATABASE_SSL_KEY')
  if (cert && key && !new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    mistakes.push('DATABASE_SSL_KEY: is not the key of DATABASE_SSL_CERT')
  const named = certificates.filter((name) => settings[name])
  if (settings.DATABASE_SSL === 'disable')
    mistakes.push(...named.map((name) => `${name}: DATABASE_SSL is disable`))
  if (named.length > 0)
    // The driver knows these modes without certificates alone.
    for (const [name, urls] of [
      ['DATABASE_URL', [settings.DATABASE_URL]],
      ['DIRECT_DATABASE_URL', [settings.DIRECT_DATABASE_URL]],
      ['DATABASE_REPLICA_URLS', settings.DATABASE_REPLICA_URLS],
    ] as const)
      if (urls.some((url) => url && /[?&]sslmode=(allow|prefer)\b/.test(url)))
        mistakes.push(`${name}: its sslmode uses no certificate; require, verify-ca and verify-full do`)
  if (settings.DATABASE_URL) return mistakes
  if (settings.DATABASE_SSL) mistakes.push('DATABASE_SSL: needs DATABASE_URL')
  return [...mistakes, ...named.map((name) => `${name}: needs DATABASE_URL`)]
}

/** Builds the settings of TLS; null if nothing is set. A certificate without a mode means `verify-full`. */
export function databaseTlsOf(settings: Omit<Settings, 'DATABASE_REPLICA_URLS'>): DatabaseTls | null {
  const [ca, cert, key] = certificates.map((name) => settings[name])
  const mode = settings.DATABASE_SSL ?? (ca || cert ? 'verify-full' : undefined)
  return mode ? { mode, ca, cert, key } : null
}
