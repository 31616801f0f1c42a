import type { Config } from './config.ts'
import type { DatabaseOptions, OpenDatabase } from './database.ts'

type Place = Pick<Config, 'databaseUrl' | 'dataDir'> &
  Partial<Pick<Config, 'databasePooler' | 'directDatabaseUrl'>>

/** Opens PostgreSQL where `databaseUrl` names one, else the embedded one in `dataDir`.
 *  Refuses a data folder that another process has open, with that process's pid. */
export async function openDatabase(
  { databaseUrl, dataDir, databasePooler, directDatabaseUrl }: Place,
  options: DatabaseOptions = {},
): Promise<OpenDatabase> {
  // Each driver is loaded where it is used: either costs memory and a part of the start.
  if (databaseUrl) {
    const { openPostgres } = await import('./postgres.ts')
    const isPooled = databasePooler === 'transaction'
    return openPostgres({ url: databaseUrl, isPooled, directUrl: directDatabaseUrl }, options)
  }
  const { openEmbedded } = await import('./embedded.ts')
  return openEmbedded(dataDir, options)
}
