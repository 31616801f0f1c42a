import { link, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}

/** The locks that a folder has seen and has not forgotten, the latest first. */
async function turnsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  const turns = names.flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? [])
  return turns.map(Number).sort((one, other) => other - one)
}

/** Who has a lock; null where it was given back, or its owner is dead. One with our own pid is of an earlier process,
 *  as in a container, where each has the same. */
async function ownerOf(lock: string): Promise<number | null> {
  const pid = await readFile(lock, 'utf8').then(Number, () => 0)
  return pid > 0 && pid !== process.pid && isAlive(pid) ? pid : null
}

// A link appears whole or not at all: nobody reads a lock without a pid in it, and of several that make the same one
// only the first does.
const made = (mine: string, lock: string): Promise<boolean> =>
  link(mine, lock).then(
    () => true,
    (error) => {
      if (hasCode(error, 'EEXIST')) return false
      throw error
    },
  )

/** Takes a folder for this process alone; resolves to what gives it back. What a dead process left is taken over. The
 *  embedded database loses data silently when two processes have one folder open.
 *
 *  Each owner has the next turn, `lock.1`, `lock.2`, …, and the latest is the one that counts. A turn is given back by
 *  emptying it, never by removing it, and so never comes again: who looked long ago can't take one that is over. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const mine = join(folder, `lock.of-${process.pid}`)
  const fileOf = (turn: number) => join(folder, `lock.${turn}`)
  await writeFile(mine, String(process.pid))
  try {
    for (;;) {
      const [latest = 0] = await turnsIn(folder)
      const owner = await ownerOf(fileOf(latest))
      if (owner !== null)
        throw new Error(
          `${folder} is open in process ${owner}: stop that one first, or set DATA_DIR to another folder`,
        )
      const turn = latest + 1
      if (!(await made(mine, fileOf(turn)))) continue
      const [now = 0, ...over] = await turnsIn(folder)
      if (now !== turn) {
        await rm(fileOf(turn), { force: true })
        continue
      }
      await Promise.all(over.map((turn) => rm(fileOf(turn), { force: true })))
      return () => writeFile(fileOf(turn), '')
    }
  } finally {
    await rm(mine, { force: true })
  }
}
