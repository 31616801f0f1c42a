import type { Config } from '../config/config.ts'
import type { DatabaseOptions, OpenDatabase } from './database.ts'

type Place = Pick<Config, 'databaseUrl' | 'dataDir'> &
  Partial<Pick<Config, 'databasePooler' | 'directDatabaseUrl' | 'databaseReplicaUrls' | 'databaseTls'>>

/** Opens the replicas, each by itself: to examine them. None without the setting. */
export async function openReplicas(
  { databaseReplicaUrls = [], databasePooler, databaseTls: tls = null }: Place,
  options: DatabaseOptions = {},
): Promise<OpenDatabase[]> {
  if (databaseReplicaUrls.length === 0) return []
  const { openPostgres } = await import('./postgres.ts')
  const isPooled = databasePooler === 'transaction'
  return databaseReplicaUrls.map((url) =>
    openPostgres({ url, isPooled, directUrl: undefined, tls, isOnlyRead: true }, options),
  )
}

/** Opens PostgreSQL if `databaseUrl` is set, else the embedded database in `dataDir`. Refuses a data folder
 *  that another process has open, and names that process's pid. */
export async function openDatabase(place: Place, options: DatabaseOptions = {}): Promise<OpenDatabase> {
  const { databaseUrl, dataDir, databasePooler, directDatabaseUrl, databaseReplicaUrls = [] } = place
  const { databaseTls: tls = null } = place
  // Drivers are imported on demand: each costs memory and startup time.
  if (databaseUrl) {
    const { openPostgres } = await import('./postgres.ts')
    const isPooled = databasePooler === 'transaction'
    const primary = openPostgres({ url: databaseUrl, isPooled, directUrl: directDatabaseUrl, tls }, options)
    if (databaseReplicaUrls.length === 0) return primary
    const { withReplicas } = await import('./replicas.ts')
    return withReplicas(primary, await openReplicas({ ...place, databaseReplicaUrls }, options))
  }
  const { openEmbedded } = await import('./pglite.ts')
  return openEmbedded(dataDir, options)
}
