import { access, constants, mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A file system in memory, as Linux has it. A database is a thousand files, and on a disk their making costs more than
// what most tests do with it.
const memoryFolder = '/dev/shm'
// Bytes: four times what a run was seen to need.
const minFreeBytes = 2 * 1024 ** 3

async function hasRoom(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK | constants.X_OK)
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= minFreeBytes
  } catch {
    return false
  }
}

// What Linux calls a file system in memory, as many have /tmp.
const tmpfs = 0x01021994

const isOnDisk = (folder: string): Promise<boolean> =>
  statfs(folder).then(
    ({ type }) => type !== tmpfs,
    () => false,
  )

/** Where a temporary folder should lie: in memory, where there is enough of it; on a disk, where what is synchronized is
 *  to take what it takes. */
export type Place = 'memory' | 'disk'

/** Where temporary folders may be made, the best first. */
export async function temporaryParents(place: Place = 'memory'): Promise<string[]> {
  const parents = [tmpdir(), '/tmp', '/var/tmp']
  if (place === 'memory') return (await hasRoom(memoryFolder)) ? [memoryFolder, ...parents] : parents
  const onDisk = await Promise.all(parents.map(isOnDisk))
  return parents.filter((_, index) => onDisk[index])
}

/** Makes a folder for databases, which whoever asked for it removes. */
export async function makeDatabaseFolder(name: string): Promise<string> {
  const [parent = tmpdir()] = await temporaryParents()
  return mkdtemp(join(parent, `boxoffice-${name}-`))
}
