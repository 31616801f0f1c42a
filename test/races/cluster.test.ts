import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer, type ServerProcess, startServer } from '../support/processes.ts'
import { openSocket, readAnswer } from '../support/sockets.ts'

// The built service in several processes, as WEB_CONCURRENCY starts it.

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

// Nobody waits that long for an answer, on whatever machine: it is an error that says so, where it would else never end.
const longestAnswer = 20_000

/** Asks on a connection of its own, so that it may come to any of the processes. */
async function ask(path: string): Promise<number | undefined> {
  const request = get(`${server.url}${path}`, { agent: false, signal: AbortSignal.timeout(longestAnswer) })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  await once(answer.resume(), 'end')
  return answer.statusCode
}

/** Asks again and again until nothing listens any more. An answer is 200, or the connection is closed at once. */
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

/** A connection with a request on it that lacks its body. The process has read the rest of it, and says so. */
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

test('all processes have one port, each of them answers, and one that is killed has a successor', async () => {
  await startTwo()
  const addresses = logOf(server).filter(({ msg }) => msg.startsWith('Server listening at'))
  expect(new Set(addresses.map(({ msg }) => msg)).size).toBe(1)
  expect(listening()).not.toContain(server.child.pid)
  expect(new Set(await askOften())).toEqual(new Set([200]))
  expect(await ask('/ready')).toBe(200)
  await expect.poll(() => pidsThat('request').toSorted()).toEqual(listening().toSorted())

  // It goes on without one that is killed, which has a successor on the same port.
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

// As a supervisor does that knows one process, and as one that tells each process of a group.
test.each(['the first', 'each'])(
  'finishes what runs in any of them when %s is told to end, and exits with 0',
  async (told) => {
    await startTwo({ SHUTDOWN_SECONDS: '40' })
    const workers = listening()
    const sockets = await Promise.all([begin(), begin()])
    const asked = Promise.all(Array.from({ length: 20 }, askUntilClosed))
    const ended = server.stop()
    if (told === 'each') for (const pid of workers) process.kill(pid, 'SIGTERM')
    // While they still run, so that nobody waits for them to end.
    await asked
    expect(workers.filter(isRunning)).toEqual(workers)
    await Promise.all(sockets.map(finish))
    expect(await ended).toBe(0)
    expect(workers.filter(isRunning)).toEqual([])
  },
)

test('one that is told to end by itself finishes what runs and has a successor, and none outlives the first', async () => {
  await startTwo()
  const [told = 0, other = 0] = listening()
  const sockets = await Promise.all([begin(), begin()])
  process.kill(told, 'SIGTERM')
  await Promise.all(sockets.map(finish))
  await expect.poll(() => pidsThat('a process ended')).toEqual([server.child.pid])
  expect(logOf(server).find(({ worker }) => worker)).toMatchObject({ worker: told, code: 0 })
  await expect.poll(listening).toHaveLength(3)
  expect(isRunning(other)).toBe(true)

  // No process outlives the one that looks after them.
  const workers = listening()
  expect(workers.filter(isRunning)).toHaveLength(2)
  await server.stop('SIGKILL')
  await expect.poll(() => workers.filter(isRunning)).toEqual([])
})

test('exits within its deadline even when a request never ends', async () => {
  await startTwo({ SHUTDOWN_SECONDS: '1' })
  const workers = listening()
  const socket = await begin()
  const toldAt = performance.now()
  expect(await server.stop('SIGINT')).toBe(1)
  // The deadline is ten seconds, where nothing else is said.
  expect(performance.now() - toldAt).toBeLessThan(9000)
  expect(workers.filter(isRunning)).toEqual([])
  socket.destroy()
})

test('each drops the connections that it has no room for, and those that it keeps are answered', async () => {
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

test('does not start where a process can not, and says why once', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const PORT = String(typeof address === 'object' && address?.port)
  const ended = await startServer({ ...database.settings, WEB_CONCURRENCY: '2', PORT })
  other.close()
  expect(ended).toMatchObject({ code: 1 })
  expect('errors' in ended && String(ended.errors).match(/is taken/g)).toHaveLength(1)
})
