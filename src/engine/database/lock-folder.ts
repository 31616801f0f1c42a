import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { link, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { errorCode } from '../base/errors.ts'
import { tryParse } from '../base/parse.ts'

/** Milliseconds until a lock that is not renewed may be taken over. It is renewed five times as often. */
export const defaultStaleMs = 10_000
const renewMsOf = (staleMs: number) => staleMs / 5

// Only Linux tells these; '' elsewhere.
const tell = (read: () => string): string => tryParse(read)?.trim() ?? ''

// Two processes may only look at each other's pid in the same PID namespace of the same boot of a machine.
const here = [
  hostname(),
  tell(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')),
  tell(() => readlinkSync('/proc/self/ns/pid')),
].join('/')

// Time at which a process began (proc_pid_stat(5), field 22), which tells it from a later one with its pid.
const startOf = (pid: number): string =>
  tell(() => {
    const [state, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return state === 'Z' ? 'ended' : (fields[18] ?? '')
  })

// Without a start, our own pid stands for an earlier process, because a container gives each the same one.
function isAlive(pid: number, start: string): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false
  }
  return start === '' ? pid !== process.pid : [start, ''].includes(startOf(pid))
}

/** Lists the turns whose lock files exist in a folder, latest first. */
async function readTurns(folder: string): Promise<number[]> {
  const names = await readdir(folder)
  const turns = names.flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? [])
  return turns.map(Number).sort((one, other) => other - one)
}

const modifiedAt = async (file: string) => (await stat(file).catch(() => null))?.mtimeMs ?? 0

// Looks until the lock is renewed, or is old and was not renewed for longer than a renewal takes. Its age is by the
// clock of the file system, which is that of a file written now, because the owner's clock may differ.
async function isRenewed(lock: string, mine: string, staleMs: number): Promise<boolean> {
  const renewedAt = await modifiedAt(lock)
  const pauseMs = staleMs / 20
  for (let waited = 0; ; waited += pauseMs) {
    await writeFile(mine, ownLine)
    if ((await modifiedAt(lock)) !== renewedAt) return true
    // Ahead of that clock, it is from before the clock was set back.
    const ageMs = (await modifiedAt(mine)) - renewedAt
    if (waited > renewMsOf(staleMs) && Math.abs(ageMs) > staleMs) return false
    await setTimeout(pauseMs)
  }
}

const ownLine = `${process.pid} ${startOf(process.pid)} ${here}`

/** Reads who holds a lock: nobody if it was released, its owner is dead, or its owner can't be seen from here and
 *  has ceased to renew it. */
async function holderOf(lock: string, mine: string, staleMs: number) {
  const line = await readFile(lock, 'utf8').catch(() => '')
  const [pid, start = '', place = here] = line.split(' ')
  if (!pid) return { owner: null, wasForeign: false }
  if (place === here) return { owner: isAlive(Number(pid), start) ? pid : null, wasForeign: false }
  const owner = `${pid} of ${place.split('/')[0]}`
  return { owner: (await isRenewed(lock, mine, staleMs)) ? owner : null, wasForeign: true }
}

// Linking is atomic: a lock file is never seen without its owner, and only one of several processes creates it.
const createLock = (mine: string, lock: string): Promise<boolean> =>
  link(mine, lock).then(
    () => true,
    (error) => {
      if (errorCode(error) === 'EEXIST') return false
      throw error
    },
  )

// In a thread of its own, because a long statement of the embedded database holds up this one. Writes without
// creating, and ignores that a disk is full or the lock is lost, which `requireHeld` notices.
const renewing = `
  const { workerData: { lock, line, ms } } = require('node:worker_threads')
  const { writeFileSync } = require('node:fs')
  setInterval(() => { try { writeFileSync(lock, line, { flag: 'r+' }) } catch {} }, ms)`

function hold(folder: string, lock: string, staleMs: number): FolderLock {
  const workerData = { lock, line: ownLine, ms: renewMsOf(staleMs) }
  const worker = new Worker(renewing, { eval: true, workerData, execArgv: [] })
  worker.unref()
  return {
    requireHeld() {
      if (existsSync(lock)) return
      console.error(`${folder} was taken over by another process, because this one stood still: it ends.`)
      process.exit(1)
    },
    async release() {
      await worker.terminate()
      await truncate(lock).catch(() => {})
    },
  }
}

/** Lock of a folder that this process holds. `requireHeld` ends the process if another one has taken it over: to
 *  be called before each write. */
export type FolderLock = { requireHeld(): void; release(): Promise<void> }

/** Locks a folder for this process. Takes over the lock of a process that is dead or, where that can't be seen (in
 *  another container, or on another machine that shares the folder), that has not renewed it for `staleMs`.
 *  Necessary because the embedded database silently loses data if two processes open one folder.
 *
 *  Each owner creates the next turn, `lock.1`, `lock.2`, …, and the latest turn is the valid one. A turn is
 *  released by emptying its file, never by deleting it, so that no turn is used twice: a process that read the
 *  folder long ago can't take a turn that is over. */
export async function lockFolder(folder: string, staleMs = defaultStaleMs): Promise<FolderLock> {
  const mine = join(folder, `lock.of-${randomUUID()}`)
  const fileOf = (turn: number) => join(folder, `lock.${turn}`)
  await writeFile(mine, ownLine)
  try {
    for (;;) {
      const [latest = 0] = await readTurns(folder)
      const { owner, wasForeign } = await holderOf(fileOf(latest), mine, staleMs)
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
      // An owner that went on in this very moment ends its statement, and sees at the next one that it lost.
      if (wasForeign) await setTimeout(staleMs / 10)
      return hold(folder, fileOf(turn), staleMs)
    }
  } finally {
    await rm(mine, { force: true })
  }
}
