import type { DatabaseConfig } from '../config/database.ts'
import type { DatabaseOptions, OpenDatabase } from './database.ts'
import type { PostgresSettings } from './postgres.ts'

// Drivers are imported on demand: each costs memory and startup time.

type Replicated = PostgresSettings & Partial<Pick<DatabaseConfig, 'databaseReplicaUrls'>>

/** Opens the replicas, each by itself: to examine them. None without the setting. */
export async function openReplicas(
  { databaseReplicaUrls = [], ...settings }: Replicated,
  options: DatabaseOptions = {},
): Promise<OpenDatabase[]> {
  if (databaseReplicaUrls.length === 0) return []
  const { openPostgres } = await import('./postgres.ts')
  return databaseReplicaUrls.map((url) =>
    openPostgres(url, { ...settings, directDatabaseUrl: undefined }, options, true),
  )
}

/** Opens PostgreSQL if `databaseUrl` is set, else the embedded database in `dataDir`. Refuses a data folder
 *  that another process has open, and names that process's pid. */
export async function openDatabase(
  { databaseUrl, dataDir, ...settings }: Replicated & Pick<DatabaseConfig, 'databaseUrl' | 'dataDir'>,
  options: DatabaseOptions = {},
): Promise<OpenDatabase> {
  if (!databaseUrl) return (await import('./pglite.ts')).openEmbedded(dataDir, options)
  const { openPostgres } = await import('./postgres.ts')
  const primary = openPostgres(databaseUrl, settings, options)
  const replicas = await openReplicas(settings, options)
  return replicas.length > 0 ? (await import('./replicas.ts')).withReplicas(primary, replicas) : primary
}
