import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
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

async function ownerOf(lock: string): Promise<number | null> {
  try {
    return Number(await readFile(lock, 'utf8'))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

/** Takes a folder for this process alone; resolves to what gives it back. A lock that a dead process left is
 *  taken over. The embedded database loses data silently when two processes have one folder open. */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const lock = join(folder, 'lock')
  const mine = `${lock}.${process.pid}`
  await writeFile(mine, String(process.pid))
  try {
    for (;;) {
      try {
        // A link appears whole or not at all: nobody reads a lock without a pid in it.
        await link(mine, lock)
        return () => rm(lock, { force: true })
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error
      }
      const owner = await ownerOf(lock)
      if (owner === null) continue
      if (owner !== process.pid && isAlive(owner))
        throw new Error(
          `${folder} is open in process ${owner}: stop that one first, or set DATA_DIR to another folder`,
        )
      await takeAway(lock, owner)
    }
  } finally {
    await rm(mine, { force: true })
  }
}

// Of several that find the same dead owner, one moves its lock away; one that moved a living owner's puts it back.
async function takeAway(lock: string, owner: number): Promise<void> {
  const away = `${lock}.${process.pid}.stale`
  try {
    await rename(lock, away)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  if ((await ownerOf(away)) !== owner) await link(away, lock).catch(() => {})
  await rm(away, { force: true })
}
