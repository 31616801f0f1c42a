import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lockFolder } from '../../src/database/lock-folder.ts'

// A process that locks and unlocks a folder on command and lives until its standard input closes.
const built = fileURLToPath(new URL('../../dist/database/lock-folder.js', import.meta.url))
const program = `
  import { createInterface } from 'node:readline'
  const { lockFolder } = await import(process.argv[1])
  let unlock
  const orders = {
    lock: async () => { unlock = await lockFolder(process.argv[2]); return 'locked' },
    unlock: async () => { await unlock?.(); unlock = undefined; return 'unlocked' },
  }
  console.log('ready')
  for await (const order of createInterface(process.stdin))
    console.log(await orders[order]().catch(({ message }) => message))
  await orders.unlock()`

let folder: string
let children: ChildProcess[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'boxoffice-lock-'))
  children = []
})

afterEach(async () => {
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** Reads the owner from the folder's latest lock; '' if there is none. */
async function ownerIn(folder: string): Promise<string> {
  const names = await readdir(folder)
  const turns = names.filter((name) => /^lock\.\d+$/.test(name)).map((name) => Number(name.slice(5)))
  return readFile(join(folder, `lock.${Math.max(...turns)}`), 'utf8')
}

async function startChild() {
  const child = spawn('node', ['--input-type=module', '--eval', program, built, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  const { stdin, stdout, pid } = child
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
  expect(await ownerIn(folder)).toBe(String(first.pid))
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
  expect(await ownerIn(folder)).toBe(String(first.pid))
  expect(await second.lock()).toBe('locked')
  expect(await ownerIn(folder)).toBe(String(second.pid))
  await expect(lockFolder(folder)).rejects.toThrow(`open in process ${second.pid}`)
})

// A container's process has the same PID each time, so a lock with its own PID is stale.
test('the lock of an earlier process with the same pid is taken over', async () => {
  await writeFile(join(folder, 'lock.7'), String(process.pid))
  const unlock = await lockFolder(folder)
  expect(await readdir(folder)).toEqual(['lock.8'])
  await unlock()
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
