import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { PGlite } from '@electric-sql/pglite'
import { requireWritable } from '../shared/files.ts'
import { lockFolder } from './lock-folder.ts'
import { foldersIn } from './pglite.ts'

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
