import { readFile, rename, rm, writeFile } from 'node:fs/promises'

/** Files of whoever runs a command. */
export type Files = {
  read(path: string): Promise<Buffer>
  /** Writes a file readable by this user alone, in place of a former one once all of it is there. */
  write(path: string, bytes: Buffer): Promise<void>
}

export const localFiles: Files = {
  read: (path) => readFile(path),
  async write(path, bytes) {
    const part = `${path}.part`
    try {
      await writeFile(part, bytes, { mode: 0o600 })
      await rename(part, path)
    } catch (error) {
      await rm(part, { force: true })
      throw error
    }
  },
}
