import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type ServerProcess, startedServer, startServer } from './processes.ts'
import { copyFolder } from './setup/database.ts'
import { makeDatabaseFolder } from './setup/temporary-folder.ts'
import { answerOn, openSocket } from './sockets.ts'

// The process on the embedded database, which is its default.

const listEvents = async ({ url }: ServerProcess, key: string) =>
  (await (await fetch(`${url}/events?limit=100`, { headers: { 'x-api-key': key } })).json()).data

const keysIn = async (folder: string) => JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'))

// A folder that the service has filled by itself, and what it printed and listed then.
let seeded: string
let printed: string
let listed: unknown[]
beforeAll(async () => {
  seeded = await makeDatabaseFolder('seeded')
  const first = await startedServer({ DATA_DIR: seeded })
  try {
    await vi.waitFor(() => expect(first.output()).toContain('Demo integration'), 10_000)
    printed = first.output()
    listed = await listEvents(first, (await keysIn(seeded)).key)
  } finally {
    expect(await first.stop()).toBe(0)
  }
})
afterAll(() => rm(seeded, { recursive: true, force: true }))

const folders: string[] = []
const servers: ServerProcess[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) if (server.child.exitCode === null) await server.stop('SIGKILL')
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** The path of a folder that is not there yet. */
async function emptyFolder(): Promise<string> {
  const parent = await makeDatabaseFolder('server')
  folders.push(parent)
  return join(parent, 'data')
}

/** A copy of the seeded folder, for a test that only needs a service that runs. */
async function seededFolder(): Promise<string> {
  const folder = await emptyFolder()
  await copyFolder(seeded, folder)
  return folder
}

async function start(folder: string, settings: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await startedServer({ DATA_DIR: folder, ...settings })
  servers.push(server)
  return server
}

test('seeds the demo once, prints its keys, and has them again after a restart', async () => {
  const { key, secret } = await keysIn(seeded)
  expect(listed).toHaveLength(60)
  expect(printed).toContain(key)
  expect(printed).toContain(secret)
  const again = await start(await seededFolder())
  await expect.poll(again.output).toContain(key)
  expect(await listEvents(again, key)).toHaveLength(60)
})

test('is healthy and ready', async () => {
  const { url } = await start(await seededFolder())
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect((await fetch(`${url}/ready`)).status).toBe(200)
})

test('refuses a data folder that another process has open, with its pid', async () => {
  const folder = await seededFolder()
  const first = await start(folder)
  const second = await startServer({ DATA_DIR: folder })
  expect(second).toMatchObject({ code: 1 })
  expect(second.errors).toContain(`open in process ${first.child.pid}`)
})

test('takes over a folder that a killed process left, with all that was in it', async () => {
  // What the killed one wrote itself, so that nothing of it was closed in order.
  const folder = await emptyFolder()
  const killed = await start(folder)
  await killed.stop('SIGKILL')
  const { key } = await keysIn(folder)
  expect(await listEvents(await start(folder), key)).toHaveLength(60)
})

const isClosed = ({ url }: ServerProcess) =>
  fetch(`${url}/health`).then(
    () => false,
    () => true,
  )

test('finishes what runs when it is told to end, and exits with 0', async () => {
  const server = await start(await seededFolder())
  const [running, coming] = await Promise.all([openSocket(server.url), openSocket(server.url)])
  const body = JSON.stringify({ query: '{ __typename }' })
  const head = [
    'POST /graphql HTTP/1.1',
    'host: x',
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  running.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  coming.write('GET /health HTTP/1.1\r\n')
  await fetch(`${server.url}/health`)
  const ended = server.stop()
  await expect.poll(() => isClosed(server)).toBe(true)
  running.write(body.slice(5))
  expect(await answerOn(running)).toContain('HTTP/1.1 200')
  coming.write('host: x\r\n\r\n')
  const answer = await answerOn(coming)
  expect(answer).toContain('HTTP/1.1 200')
  expect(answer.toLowerCase()).toContain('connection: close')
  expect(await ended).toBe(0)
})

test('does not wait for connections that are not used', async () => {
  const server = await start(await seededFolder())
  const [unused, kept] = await Promise.all([openSocket(server.url), openSocket(server.url)])
  kept.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(await answerOn(kept)).toContain('HTTP/1.1 200')
  const closed = Promise.all([once(unused, 'close'), once(kept, 'close')])
  expect(await server.stop()).toBe(0)
  await closed
})

test('exits within its deadline even when a request never ends', async () => {
  const server = await start(await seededFolder(), { SHUTDOWN_SECONDS: '1' })
  const socket = await openSocket(server.url)
  socket.write(
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
  )
  await fetch(`${server.url}/health`)
  expect(await server.stop()).toBe(1)
  socket.destroy()
})

test('says every setting that is wrong, and does not start', async () => {
  const ended = await startServer({
    PORT: 'http',
    HOLD_MINUTES: '0',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
  })
  expect(ended).toMatchObject({ code: 1, output: '' })
  for (const name of ['PORT', 'HOLD_MINUTES', 'DATABASE_URL']) expect(ended.errors).toContain(name)
  expect(ended.errors).not.toContain('hunter2')
})

test('does not start on the sandbox in production, unless it is told to', async () => {
  const DATA_DIR = await seededFolder()
  expect(await startServer({ DATA_DIR, NODE_ENV: 'production' })).toMatchObject({ code: 1 })
  await start(DATA_DIR, { NODE_ENV: 'production', ALLOW_SANDBOX_PAYMENTS: 'true' })
})
