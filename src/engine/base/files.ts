import {
  access,
  chmod,
  constants,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from './errors.ts'
import { service } from './service.ts'

/** Files of whoever runs a command. */
export type Files = {
  read(path: string): Promise<Buffer>
  /** Writes a file readable by this user alone, in place of a former one once all of it is there. */
  write(path: string, bytes: Buffer): Promise<void>
}

/** Path of a file while it is written. */
export const unfinishedOf = (path: string) => `${path}.part`

export const localFiles: Files = {
  read: (path) => readFile(path),
  async write(path, bytes) {
    const part = unfinishedOf(path)
    try {
      // Made anew: one that is there already may be open to others.
      await rm(part, { force: true })
      await writeFile(part, bytes, { mode: 0o600, flag: 'wx' })
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  },
}

/** Makes a folder for this user alone, or makes one that is there its own if `isOwn` says so of the names in it. Refuses a
 *  folder in which others may write. */
export async function makeOwnFolder(folder: string, setting: string, isOwn: (names: string[]) => boolean) {
  await requireWritable(folder, setting)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { mode } = await stat(folder)
  if ((mode & 0o077) === 0) return
  // Never a folder that users share, such as /tmp, nor one that serves something else.
  const isTaken = (mode & 0o1000) === 0 && isOwn(await readdir(folder))
  const isRefused = !isTaken || (await chmod(folder, 0o700).catch(() => true))
  if (isRefused && (mode & 0o022) !== 0)
    throw new Error(
      `Others may write in the folder ${folder}: set ${setting} to one of this user alone, such as ${join(folder, service.name)}.`,
    )
}

/** Throws an error that names the setting unless this process may write in a folder, or make it. Makes
 *  nothing. */
export async function requireWritable(folder: string, setting: string): Promise<void> {
  for (let path = folder; ; path = dirname(path))
    try {
      return await access(path, constants.W_OK | constants.X_OK)
    } catch (error) {
      const code = errorCode(error)
      if (code === 'ENOENT' && path !== dirname(path)) continue
      throw new Error(
        `The folder ${folder} can't be written (${code}): set ${setting} to one that this process may write.`,
      )
    }
}
