import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import { drizzle } from 'drizzle-orm/pglite'
import { requireWritable } from '../shared/files.ts'
import { type DatabaseOptions, logger, type OpenDatabase, planning, readiness } from './database.ts'
import { type FolderLock, lockFolder } from './lock-folder.ts'
import { migrate, type RunStatement } from './migrate.ts'
import { keepUp, upkeepSettings } from './upkeep.ts'

// Every statement passes this method, closing as well.
function requireHeldBeforeEach(client: PGlite, lock: FolderLock): void {
  const run = client.execProtocolRawSync.bind(client)
  client.execProtocolRawSync = (message) => {
    lock.requireHeld()
    return run(message)
  }
}

/** Folders of the embedded database in its data folder: the current one, and those that exist while it is restored. */
export const foldersIn = (folder: string) => ({
  current: join(folder, 'postgres'),
  restored: join(folder, 'postgres.restored'),
  former: join(folder, 'postgres.former'),
})

// A folder without a version is what an aborted start or a damaged disk left: PGlite would wait for it for ever.
async function requireWhole(folder: string): Promise<void> {
  const names: string[] = await readdir(folder).catch(() => [])
  if (names.length > 0 && !names.includes('PG_VERSION')) throw new Error('it is incomplete')
}

async function openIn(folder: string): Promise<PGlite> {
  const { current, former } = foldersIn(folder)
  // Left by a restore that was killed. Fails, as it should, where there is a current one.
  await rename(former, current).catch(() => {})
  try {
    await requireWhole(current)
    return await PGlite.create(current)
  } catch (error) {
    const reason = error instanceof Error && error.message ? ` (${error.message})` : ''
    throw new Error(
      `The embedded database in ${folder} (DATA_DIR) can't be opened${reason}: ` +
        'its disk is full, or it is damaged. Make room, or restore a backup: docs/operations.md.',
    )
  }
}

/** Opens the embedded database in a folder, exclusively for this process. Refuses a folder that another
 *  process has open, and names that process's pid. */
export async function openEmbedded(folder: string, options: DatabaseOptions): Promise<OpenDatabase> {
  await requireWritable(folder, 'DATA_DIR')
  await mkdir(folder, { recursive: true })
  const lock = await lockFolder(folder)
  try {
    const client = await openIn(folder)
    requireHeldBeforeEach(client, lock)
    const run: RunStatement = async (statement) => (await client.exec(statement)).at(-1)?.rows ?? []
    for (const [name, value] of Object.entries({ ...planning, ...upkeepSettings }))
      await run(`set ${name} = ${value}`)
    const db = drizzle(client, { logger: logger(options) })
    return {
      db,
      distribute: async () => {
        throw new Error('The embedded database is one process: set DATABASE_URL to a Citus cluster.')
      },
      async dump() {
        await client.exec('checkpoint')
        return Buffer.from(await (await client.dumpDataDir('gzip')).arrayBuffer())
      },
      migrate: (onWait) => migrate(run, { onWait }),
      keepUp: () => keepUp(run),
      whyUnready: readiness(db),
      // PGlite ignores statement timeouts, and needs none: it serves one process only.
      hasStatementTimeouts: async () => true,
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

async function load(backup: Buffer, folder: string): Promise<void> {
  // Unpacked here, because PGlite lets a damaged archive end the process.
  const loadDataDir = new Blob([await promisify(gunzip)(backup)], { type: 'application/x-tar' })
  const client = await PGlite.create(folder, { loadDataDir })
  // Fails where it is a backup of something else.
  await client.query('select from drizzle.__drizzle_migrations').finally(() => client.close())
}

/** Puts a backup into the folder of the embedded database. Refuses a folder that a process has open, one that is not
 *  empty unless `replace` says so, and a file that is no backup; then the folder is as before. `name` is that of
 *  the file, for messages. */
export async function restoreEmbedded(
  folder: string,
  { backup, name, replace }: { backup: Buffer; name: string; replace: boolean },
): Promise<void> {
  await requireWritable(folder, 'DATA_DIR')
  await mkdir(folder, { recursive: true })
  const lock = await lockFolder(folder)
  const { current, former, restored } = foldersIn(folder)
  try {
    const names = await readdir(folder)
    if (!replace && names.some((name) => !name.startsWith('lock.')))
      throw new Error(
        `${folder} is not empty: set DATA_DIR to another folder, or replace its database with --force`,
      )
    await rm(restored, { recursive: true, force: true })
    await load(backup, restored).catch(async (cause) => {
      await rm(restored, { recursive: true, force: true })
      const reason = cause instanceof Error ? cause.message : ''
      throw new Error(
        `${name} can't be restored in ${folder}: it is no whole backup, or the disk is full (${reason})`,
      )
    })
    // If the process dies in between, opening the folder puts the former one back.
    await rename(current, former).catch(() => {})
    await rename(restored, current)
    await rm(former, { recursive: true, force: true })
  } finally {
    await lock.release()
  }
}
