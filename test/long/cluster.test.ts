import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer, type ServerProcess, startServer } from '../support/processes.ts'
import { openSocket, readAnswer } from '../support/sockets.ts'

// The built service in several processes, as started with WEB_CONCURRENCY.

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

let server: ServerProcess
afterEach(() => server?.stop('SIGKILL'))

type Line = { pid: number; msg: string; worker?: number }

const logOf = ({ output }: ServerProcess): Line[] =>
  output()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line))

const pidsThat = (msg: string): number[] => [
  ...new Set(
    logOf(server)
      .filter((line) => line.msg.startsWith(msg))
      .map(({ pid }) => pid),
  ),
]
const listening = () => pidsThat('Server listening at')

async function startTwo(settings: Record<string, string> = {}): Promise<void> {
  server = await mustStartServer({ ...database.settings, WEB_CONCURRENCY: '2', ...settings })
  await expect.poll(listening).toHaveLength(2)
}

// Turns a request that would hang into an error.
const maxAnswerMs = 20_000

/** Sends a request on its own connection, so that any of the processes may get it. */
async function ask(path: string): Promise<number | undefined> {
  const request = get(`${server.url}${path}`, { agent: false, signal: AbortSignal.timeout(maxAnswerMs) })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return answer.statusCode
}

/** Repeats requests until the port is closed. Each is answered with 200, or its connection is closed at
 *  once. */
async function askUntilClosed(): Promise<void> {
  for (;;) {
    const answer = await ask('/health').catch(({ code }: NodeJS.ErrnoException) => code)
    if (answer === 'ECONNREFUSED') return
    expect([200, 'ECONNRESET', 'EPIPE']).toContain(answer)
  }
}

const askOften = () => Promise.all(Array.from({ length: 20 }, () => ask('/schema.graphql')))

const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Opens a connection with a request that lacks its body, once a process has read the rest and says so. */
async function begin(): Promise<Socket> {
  const socket = await openSocket(server.url)
  socket.write(
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 24\r\nexpect: 100-continue\r\n\r\n',
  )
  expect(await readAnswer(socket)).toContain('100 Continue')
  return socket
}

async function finish(socket: Socket): Promise<void> {
  socket.write('{"query":"{__typename}"}')
  expect(await readAnswer(socket)).toContain('HTTP/1.1 200')
}

test('cluster shares one port, uses all processes and replaces one that is killed', async () => {
  await startTwo()
  const addresses = logOf(server).filter(({ msg }) => msg.startsWith('Server listening at'))
  expect(new Set(addresses.map(({ msg }) => msg)).size).toBe(1)
  expect(listening()).not.toContain(server.child.pid)
  expect(new Set(await askOften())).toEqual(new Set([200]))
  expect(await ask('/ready')).toBe(200)
  await expect.poll(() => pidsThat('request').toSorted()).toEqual(listening().toSorted())

  // Continues without the killed process and starts another on the same port.
  const [killed = 0, other = 0] = listening()
  process.kill(killed, 'SIGKILL')
  await expect.poll(() => pidsThat('a process ended')).toEqual([server.child.pid])
  expect(logOf(server).find(({ worker }) => worker)).toMatchObject({ worker: killed, signal: 'SIGKILL' })
  expect(new Set(await askOften())).toEqual(new Set([200]))
  await expect.poll(listening).toHaveLength(3)
  const [successor = 0] = listening().filter((pid) => pid !== killed && pid !== other)
  await askOften()
  await expect.poll(() => pidsThat('request')).toContain(successor)
  expect(await server.stop()).toBe(0)
})

// Supervisors signal either one process or each process of a group.
test.each(['the first', 'each'])(
  'cluster finishes running requests when SIGTERM goes to %s, and exits with 0',
  async (signalled) => {
    await startTwo({ SHUTDOWN_SECONDS: '40' })
    const workers = listening()
    const sockets = await Promise.all([begin(), begin()])
    const asked = Promise.all(Array.from({ length: 20 }, askUntilClosed))
    const ended = server.stop()
    if (signalled === 'each') for (const pid of workers) process.kill(pid, 'SIGTERM')
    // Checked while the requests still run, so that no client waits for the end.
    await asked
    expect(workers.filter(isRunning)).toEqual(workers)
    await Promise.all(sockets.map(finish))
    expect(await ended).toBe(0)
    expect(workers.filter(isRunning)).toEqual([])
  },
)

test('cluster replaces a process that gets SIGTERM after it finishes, and none outlives the primary', async () => {
  await startTwo()
  const [signalled = 0, other = 0] = listening()
  const sockets = await Promise.all([begin(), begin()])
  process.kill(signalled, 'SIGTERM')
  await Promise.all(sockets.map(finish))
  await expect.poll(() => pidsThat('a process ended')).toEqual([server.child.pid])
  expect(logOf(server).find(({ worker }) => worker)).toMatchObject({ worker: signalled, code: 0 })
  await expect.poll(listening).toHaveLength(3)
  expect(isRunning(other)).toBe(true)

  // No worker outlives the primary.
  const workers = listening()
  expect(workers.filter(isRunning)).toHaveLength(2)
  await server.stop('SIGKILL')
  await expect.poll(() => workers.filter(isRunning)).toEqual([])
})

test('cluster exits within its deadline with a request that never ends', async () => {
  await startTwo({ SHUTDOWN_SECONDS: '1' })
  const workers = listening()
  const socket = await begin()
  const toldAt = performance.now()
  expect(await server.stop('SIGINT')).toBe(1)
  // Ten seconds is the default.
  expect(performance.now() - toldAt).toBeLessThan(9000)
  expect(workers.filter(isRunning)).toEqual([])
  socket.destroy()
})

test('cluster processes over MAX_CONNECTIONS drop connections and answer the rest', async () => {
  await startTwo({ MAX_CONNECTIONS: '2' })
  const sockets = await Promise.all(Array.from({ length: 10 }, () => openSocket(server.url)))
  const kept = () => sockets.filter(({ destroyed }) => !destroyed)
  for (const socket of sockets) socket.resume().on('end', () => socket.destroy())
  await expect.poll(() => kept().length).toBeLessThanOrEqual(4)
  const [socket] = kept()
  socket?.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(socket && (await readAnswer(socket))).toMatch(/^HTTP\/1\.1 200 /)
  for (const open of kept()) open.destroy()
  await expect.poll(() => ask('/health').catch(() => null)).toBe(200)
})

test('cluster that cannot start exits and says why once', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const PORT = String(typeof address === 'object' && address?.port)
  const ended = await startServer({ ...database.settings, WEB_CONCURRENCY: '2', PORT })
  other.close()
  expect(ended).toMatchObject({ code: 1 })
  expect('errors' in ended && String(ended.errors).match(/is taken/g)).toHaveLength(1)
})
