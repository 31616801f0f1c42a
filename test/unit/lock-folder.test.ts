// Runs in: unit

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { defaultStaleMs, lockFolder } from '../../src/engine/database/lock-folder.ts'

// A third of the default, so that tests don't wait as long, and a busy machine renews its locks in time.
const staleMs = 3_000

// A process that locks and unlocks a folder on command and lives until its standard input closes.
const built = fileURLToPath(new URL('../../dist/engine/database/lock-folder.js', import.meta.url))
const program = `
  import { createInterface } from 'node:readline'
  const { lockFolder } = await import(process.argv[1])
  let lock
  const orders = {
    lock: async () => { lock = await lockFolder(process.argv[2], ${staleMs}); return 'locked' },
    unlock: async () => { await lock?.release(); lock = undefined; return 'unlocked' },
    write: async () => { lock.requireHeld(); return 'written' },
    block: async () => { const end = Date.now() + ${1.1 * staleMs}; while (Date.now() < end); return 'blocked' },
  }
  console.log('ready')
  for await (const order of createInterface(process.stdin))
    console.log(await orders[order]().catch(({ message }) => message))
  await orders.unlock()`

let folder: string
const folders: string[] = []
const children: ChildProcess[] = []

async function makeFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'boxoffice-lock-'))
  folders.push(made)
  return made
}

beforeEach(async () => {
  folder = await makeFolder()
})

afterAll(async () => {
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  for (const made of folders) await rm(made, { recursive: true, force: true })
})

/** Reads the owner from the folder's latest lock; '' if there is none. */
async function ownerIn(folder: string): Promise<string> {
  const names = await readdir(folder)
  const turns = names.filter((name) => /^lock\.\d+$/.test(name)).map((name) => Number(name.slice(5)))
  return readFile(join(folder, `lock.${Math.max(...turns)}`), 'utf8')
}

// As in a container: a PID namespace of its own, in which the process is number 1. Where the machine allows none,
// the process lies about both.
const unshare = ['--pid', '--fork', '--kill-child', '--mount-proc']
const hasNamespaces = spawnSync('unshare', [...unshare, 'true']).status === 0
const lying = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const namespace = 'pid:[' + process.pid + ']'
  fs.readlinkSync = () => namespace
  Object.defineProperty(process, 'pid', { value: 1 })
  syncBuiltinESMExports()`
const how = hasNamespaces ? 'two PID namespaces' : 'processes that lie about their pid'

async function startChild({ isContained = false, on = folder } = {}) {
  const text = isContained && !hasNamespaces ? `${lying}\n${program}` : program
  const node = ['node', '--input-type=module', '--eval', text, built, on]
  const [command = '', ...args] = isContained && hasNamespaces ? ['unshare', ...unshare, ...node] : node
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: isContained })
  children.push(child)
  const { stdin, stdout, pid = 0 } = child
  const said = createInterface(stdout)[Symbol.asyncIterator]()
  const line = async (): Promise<string> => (await said.next()).value
  expect(await line()).toBe('ready')
  const tell = (order: string) => {
    stdin.write(`${order}\n`)
    return line()
  }
  return {
    pid,
    lock: () => tell('lock'),
    unlock: () => tell('unlock'),
    async leave() {
      const left = once(child, 'exit')
      stdin.end()
      await left
    },
    write: () => tell('write'),
    block: () => tell('block'),
    /** Stops or continues all processes of a container. */
    signal: (signal: NodeJS.Signals) => process.kill(-pid, signal),
    exited: () => child.exitCode ?? once(child, 'exit').then(([code]) => code),
    async die() {
      const dead = once(child, 'exit')
      child.kill('SIGKILL')
      await dead
    },
  }
}

test('a second process is refused with the pid of the first', async () => {
  const [first, second] = await Promise.all([startChild(), startChild()])
  expect(await first.lock()).toBe('locked')
  expect(await second.lock()).toBe(
    `${folder} is open in process ${first.pid}: stop that one first, or set DATA_DIR to another folder`,
  )
  await expect(lockFolder(folder)).rejects.toThrow(`open in process ${first.pid}`)
})

test('a refused process leaves the lock to its owner', async () => {
  const [first, second] = await Promise.all([startChild(), startChild()])
  await first.lock()
  await second.lock()
  await second.leave()
  expect(await ownerIn(folder)).toMatch(`${first.pid} `)
  await expect(lockFolder(folder)).rejects.toThrow(`open in process ${first.pid}`)
})

test('a released lock is free', async () => {
  const [first, second] = await Promise.all([startChild(), startChild()])
  await first.lock()
  await first.leave()
  expect(await ownerIn(folder)).toBe('')
  expect(await second.lock()).toBe('locked')
})

test('the lock of a killed process is taken over', async () => {
  const [first, second] = await Promise.all([startChild(), startChild()])
  await first.lock()
  await first.die()
  expect(await ownerIn(folder)).toMatch(`${first.pid} `)
  expect(await second.lock()).toBe('locked')
  expect(await ownerIn(folder)).toMatch(`${second.pid} `)
  await expect(lockFolder(folder)).rejects.toThrow(`open in process ${second.pid}`)
})

// A container's process has the same PID each time, so a lock with its own PID is stale.
test('the lock of an earlier process with the same pid is taken over', async () => {
  await writeFile(join(folder, 'lock.7'), String(process.pid))
  const lock = await lockFolder(folder)
  expect(await readdir(folder)).toEqual(['lock.8'])
  await lock.release()
  expect(await ownerIn(folder)).toBe('')
})

test('only one of many concurrent processes takes over a stale lock', async () => {
  const dead = await startChild()
  await dead.die()
  const rivals = await Promise.all(Array.from({ length: 8 }, startChild))
  for (let round = 0; round < 20; round++) {
    await writeFile(join(folder, `lock.${round * 100 + 1}`), String(dead.pid))
    const answers = await Promise.all(rivals.map((rival) => rival.lock()))
    expect(answers.filter((answer) => answer === 'locked')).toHaveLength(1)
    expect(answers.filter((answer) => answer.includes('is open in process'))).toHaveLength(7)
    await Promise.all(rivals.map((rival) => rival.unlock()))
    expect(await ownerIn(folder)).toBe('')
  }
})

// Its start tells a process from another that has its pid since.
test('the lock of a dead process whose pid another process has is taken over', async () => {
  const [first, second] = await Promise.all([startChild(), startChild()])
  await first.lock()
  const line = await ownerIn(folder)
  await first.die()
  await writeFile(join(folder, 'lock.1'), line.replace(/^\d+ /, `${process.ppid} `))
  expect(await second.lock()).toBe('locked')
})

describe.concurrent(`containers: ${how}`, () => {
  const places = async () => {
    const on = await makeFolder()
    return { outside: () => startChild({ on }), contained: () => startChild({ on, isContained: true }) }
  }

  test('of two on one folder, in both of which the process is number 1, one has it', async () => {
    const { contained, outside } = await places()
    const [first, second, third] = await Promise.all([contained(), contained(), outside()])
    const answers = await Promise.all([first.lock(), second.lock()])
    expect(answers.toSorted()).toEqual([expect.stringMatching(/ is open in process 1 of /), 'locked'])
    expect(await third.lock()).toMatch(/ is open in process 1 of .*: stop that one first/)
  })

  test('a lock that its owner can not renew for a while, because it works, stays its own', async () => {
    const { contained } = await places()
    const [first, second] = await Promise.all([contained(), contained()])
    await first.lock()
    const blocked = first.block()
    expect(await second.lock()).toMatch(/ is open in process 1 of /)
    await blocked
    expect(await second.lock()).toMatch(/ is open in process 1 of /)
    expect(await first.write()).toBe('written')
  })

  test('the folder of a killed one opens again, outside of it as well, once its lock is stale', async () => {
    const { contained, outside } = await places()
    const [first, second] = await Promise.all([contained(), outside()])
    await first.lock()
    await first.die()
    const since = performance.now()
    expect(await second.lock()).toBe('locked')
    expect(performance.now() - since).toBeLessThan(staleMs + 10_000)
    await second.unlock()
    expect(await (await contained()).lock()).toBe('locked')
  })

  test('the folder of a killed one opens though its lock is of before the clock was set back', async () => {
    const on = await makeFolder()
    const [first, second] = await Promise.all([startChild({ on, isContained: true }), startChild({ on })])
    await first.lock()
    await first.die()
    const later = new Date(Date.now() + 3_600_000)
    await utimes(join(on, 'lock.1'), later, later)
    expect(await second.lock()).toBe('locked')
  })

  test('one that stood still and lost the folder ends before it writes', async () => {
    const { contained } = await places()
    const [first, second] = await Promise.all([contained(), contained()])
    await first.lock()
    expect(await first.write()).toBe('written')
    first.signal('SIGSTOP')
    expect(await second.lock()).toBe('locked')
    first.signal('SIGCONT')
    void first.write()
    expect(await first.exited()).toBe(1)
    expect(await second.write()).toBe('written')
  })
})

test('a lock is stale after ten seconds without a renewal', () => {
  expect(defaultStaleMs).toBe(10_000)
})
