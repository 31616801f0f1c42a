import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { requireWritable } from '../shared/writable-folder.ts'
import { type DatabaseOptions, logger, type OpenDatabase, readiness } from './database.ts'
import { type FolderLock, lockFolder } from './lock-folder.ts'
import { type MigrationSession, migrate } from './migrate.ts'

const sessionOf = (client: PGlite): MigrationSession => ({
  async run(statement) {
    const results = await client.exec(statement)
    return results.at(-1)?.rows ?? []
  },
})

// Every statement passes this method, closing as well.
function requireHeldBeforeEach(client: PGlite, lock: FolderLock): void {
  const run = client.execProtocolRawSync.bind(client)
  client.execProtocolRawSync = (message) => {
    lock.requireHeld()
    return run(message)
  }
}

/** Opens the embedded database in a folder, exclusively for this process. Refuses a folder that another
 *  process has open, and names that process's pid. */
export async function openEmbedded(folder: string, options: DatabaseOptions): Promise<OpenDatabase> {
  await requireWritable(folder, 'DATA_DIR')
  await mkdir(folder, { recursive: true })
  const lock = await lockFolder(folder)
  try {
    const client = await PGlite.create(join(folder, 'postgres'))
    requireHeldBeforeEach(client, lock)
    const db = drizzle(client, { logger: logger(options) })
    const whyUnready = readiness(db)
    return {
      db,
      distribute: async () => {
        throw new Error('The embedded database is one process: set DATABASE_URL to a Citus cluster.')
      },
      migrate: (onWait) => migrate(sessionOf(client), { onWait }),
      ready: async () => (await whyUnready()) === null,
      whyUnready,
      // PGlite ignores statement timeouts, and needs none: it serves one process only.
      hasStatementTimeouts: async () => true,
      replica: () => db,
      followReplicas: async () => {},
      poolUsage: () => ({}),
      async close() {
        await client.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}
