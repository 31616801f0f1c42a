import { access, constants, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from './errors.ts'

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
      await writeFile(part, bytes, { mode: 0o600 })
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  },
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
