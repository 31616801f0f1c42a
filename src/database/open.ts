import type { Config } from '../config/config.ts'
import type { DatabaseOptions, OpenDatabase } from './database.ts'

type Place = Pick<Config, 'databaseUrl' | 'dataDir'> &
  Partial<Pick<Config, 'databasePooler' | 'directDatabaseUrl' | 'databaseReplicaUrls' | 'databaseTls'>>

/** Opens PostgreSQL if `databaseUrl` is set, else the embedded database in `dataDir`. Refuses a data folder
 *  that another process has open, and names that process's pid. */
export async function openDatabase(
  {
    databaseUrl,
    dataDir,
    databasePooler,
    directDatabaseUrl,
    databaseReplicaUrls = [],
    databaseTls: tls = null,
  }: Place,
  options: DatabaseOptions = {},
): Promise<OpenDatabase> {
  // Drivers are imported on demand: each costs memory and startup time.
  if (databaseUrl) {
    const { openPostgres } = await import('./postgres.ts')
    const isPooled = databasePooler === 'transaction'
    const primary = openPostgres({ url: databaseUrl, isPooled, directUrl: directDatabaseUrl, tls }, options)
    if (databaseReplicaUrls.length === 0) return primary
    const { withReplicas } = await import('./replicas.ts')
    const open = (url: string) =>
      openPostgres({ url, isPooled, directUrl: undefined, tls, isOnlyRead: true }, options)
    return withReplicas(primary, databaseReplicaUrls.map(open))
  }
  const { openEmbedded } = await import('./pglite.ts')
  return openEmbedded(dataDir, options)
}
