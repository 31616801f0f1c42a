import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { isDatabaseUrl, namesNoCertificate, splitDatabaseUrls } from './database-url.ts'

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
