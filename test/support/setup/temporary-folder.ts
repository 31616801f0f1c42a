import { access, constants, mkdtemp, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// A file system in memory, as Linux has it. Creating the thousand files of a database on a disk costs more
// than most tests do.
const memoryFolder = '/dev/shm'
// Four times the measured need of a run.
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

// Linux's magic number of tmpfs, which many systems use for /tmp.
const tmpfs = 0x01021994

const isOnDisk = (folder: string): Promise<boolean> =>
  statfs(folder).then(
    ({ type }) => type !== tmpfs,
    () => false,
  )

/** Preferred place of a temporary folder: `memory`, if there is enough of it, or `disk`, where a sync has its
 *  real cost. */
export type Place = 'memory' | 'disk'

/** Parents for temporary folders, best first. */
export async function temporaryParents(place: Place = 'memory'): Promise<string[]> {
  const parents = [tmpdir(), '/tmp', '/var/tmp']
  if (place === 'memory') return (await hasRoom(memoryFolder)) ? [memoryFolder, ...parents] : parents
  const onDisk = await Promise.all(parents.map(isOnDisk))
  return parents.filter((_, index) => onDisk[index])
}

/** Makes a folder for databases. The caller removes it. */
export async function makeDatabaseFolder(name: string): Promise<string> {
  const [parent = tmpdir()] = await temporaryParents()
  return mkdtemp(join(parent, `boxoffice-${name}-`))
}
