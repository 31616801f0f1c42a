import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../shared/errors.ts'

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** Lists the turns whose lock files exist in a folder, latest first. */
async function readTurns(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  const turns = names.flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? [])
  return turns.map(Number).sort((one, other) => other - one)
}

/** Reads the pid of a lock's owner; null if the lock was released or its owner is dead. Our own pid stands
 *  for an earlier process, as in a container, where every process gets the same pid. */
async function ownerOf(lock: string): Promise<number | null> {
  const pid = await readFile(lock, 'utf8').then(Number, () => 0)
  return pid > 0 && pid !== process.pid && isAlive(pid) ? pid : null
}

// Linking is atomic: a lock file is never seen without a pid, and only one of several processes creates it.
const createLock = (mine: string, lock: string): Promise<boolean> =>
  link(mine, lock).then(
    () => true,
    (error) => {
      if (errorCode(error) === 'EEXIST') return false
      throw error
    },
  )

/** Locks a folder for this process, and resolves to a function that releases it. Takes over the lock of a dead
 *  process. Necessary because the embedded database silently loses data if two processes open one folder.
 *
 *  Each owner creates the next turn, `lock.1`, `lock.2`, …, and the latest turn is the valid one. A turn is
 *  released by emptying its file, never by deleting it, so that no turn is used twice: a process that read the
 *  folder long ago can't take a turn that is over. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const mine = join(folder, `lock.of-${process.pid}`)
  const fileOf = (turn: number) => join(folder, `lock.${turn}`)
  await writeFile(mine, String(process.pid))
  try {
    for (;;) {
      const [latest = 0] = await readTurns(folder)
      const owner = await ownerOf(fileOf(latest))
      if (owner !== null)
        throw new Error(
          `${folder} is open in process ${owner}: stop that one first, or set DATA_DIR to another folder`,
        )
      const turn = latest + 1
      if (!(await createLock(mine, fileOf(turn)))) continue
      const [current = 0, ...previous] = await readTurns(folder)
      if (current !== turn) {
        await rm(fileOf(turn), { force: true })
        continue
      }
      await Promise.all(previous.map((turn) => rm(fileOf(turn), { force: true })))
      return () => writeFile(fileOf(turn), '')
    }
  } finally {
    await rm(mine, { force: true })
  }
}
