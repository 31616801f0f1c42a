import { access, constants } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from './errors.ts'

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
