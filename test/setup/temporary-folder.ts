import { access, constants, mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A file system in memory, as Linux has it. A database is a thousand files, and on a disk their making costs more than
// what most tests do with it.
const inMemory = '/dev/shm'
// Bytes: four times what a run was seen to need.
const enough = 2 * 1024 ** 3

async function hasRoom(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= enough
  } catch {
    return false
  }
}

/** Where temporary folders are best made, the best first: in memory where there is enough of it. */
export const temporaryParents = async (): Promise<string[]> => [
  ...((await hasRoom(inMemory)) ? [inMemory] : []),
  tmpdir(),
]

/** Makes a folder for databases, which whoever asked for it removes. */
export async function makeDatabaseFolder(name: string): Promise<string> {
  const [parent = tmpdir()] = await temporaryParents()
  return mkdtemp(join(parent, `boxoffice-${name}-`))
}
