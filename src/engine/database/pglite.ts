import { chmod, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { NodeFS } from '@electric-sql/pglite/nodefs'
import { drizzle } from 'drizzle-orm/pglite'
import { errorCode } from '../base/errors.ts'
import { makeOwnFolder } from '../base/files.ts'
import { createBulkhead } from '../base/turns.ts'
import {
  type DatabaseOptions,
  logger,
  markServers,
  type OpenDatabase,
  planning,
  readiness,
  takeTurns,
} from './database.ts'
import { type FolderLock, lockFolder } from './lock-folder.ts'
import { migrate, type RunStatement } from './migrate.ts'
import { unusable } from './pool/failures.ts'
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

/** Tells a folder that is new, or of the embedded database, by the names in it. */
export const isDataFolder = (names: string[]) =>
  names.length === 0 || names.some((name) => /^(postgres|lock\.\d+)$/.test(name))

async function takeFolder(folder: string): Promise<FolderLock> {
  await makeOwnFolder(folder, 'DATA_DIR', isDataFolder)
  return lockFolder(folder).catch((error) => {
    const code = errorCode(error)
    if (code === undefined) throw error
    throw new Error(
      `The folder ${folder} (DATA_DIR) can't be written (${code}): make room on its disk, or name another.`,
    )
  })
}

type FileOperations = {
  mknod(parent: object, name: string, mode: number, device: number): object
  setattr(node: object, changes: { mode?: number }): void
}

// The folder holds addresses and secrets. PGlite gives its files a mode of its own, whatever the umask.
const forOwner = (mode: number) => mode & ~0o077
class OwnFiles extends NodeFS {
  override init(...[client, options]: Parameters<NodeFS['init']>) {
    const closeToOthers = ({ NODEFS }: { NODEFS: { node_ops: FileOperations } }) => {
      const { mknod, setattr } = NODEFS.node_ops
      Object.assign(NODEFS.node_ops, {
        mknod: (parent, name, mode, device) => mknod(parent, name, forOwner(mode), device),
        setattr: (node, { mode, ...changes }) =>
          setattr(node, mode === undefined ? changes : { ...changes, mode: forOwner(mode) }),
      } satisfies FileOperations)
    }
    return super.init(client, { ...options, preRun: [...(options.preRun ?? []), closeToOthers] })
  }
}

async function createIn(folder: string, options: PGliteOptions = {}): Promise<PGlite> {
  await mkdir(folder, { recursive: true })
  await chmod(folder, 0o700)
  return PGlite.create({ ...options, fs: new OwnFiles(folder) })
}

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
    return await createIn(current)
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
  const lock = await takeFolder(folder)
  try {
    const client = await openIn(folder)
    requireHeldBeforeEach(client, lock)
    // It does one thing at a time, first come, first served.
    const inTurn = createBulkhead({ maxAtOnce: 1, maxOfOwner: 1, maxWaiting: Number.POSITIVE_INFINITY })
    const run: RunStatement = async (statement) => (await client.exec(statement)).at(-1)?.rows ?? []
    for (const [name, value] of Object.entries({ ...planning, ...upkeepSettings }))
      await run(`set ${name} = ${value}`)
    const db = drizzle(client, { logger: logger(options) })
    markServers(db, 'one')
    takeTurns(db, (owner) => ({
      query: (...asked: Parameters<PGlite['query']>) => inTurn(owner, () => client.query(...asked)),
      transaction: (...asked: Parameters<PGlite['transaction']>) =>
        inTurn(owner, () => client.transaction(...asked)),
    }))
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
  const client = await createIn(folder, { loadDataDir })
  const unready = await readiness(drizzle(client))().finally(() => client.close())
  // An older release's tables are brought up to date later: without any, there is a code.
  if (unready?.code) throw new Error(`no tables of this service are in it: ${unready.code}`)
  if (unready?.reason === 'TABLES_OLDER') throw unusable(unready)
}

/** Puts a backup into the folder of the embedded database. Refuses a folder that a process has open, one that is not
 *  empty unless `replace` says so, and a file that is no backup; then the folder is as before. `name` is that of
 *  the file, for messages. */
export async function restoreEmbedded(
  folder: string,
  { backup, name, replace }: { backup: Buffer; name: string; replace: boolean },
): Promise<void> {
  const lock = await takeFolder(folder)
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
