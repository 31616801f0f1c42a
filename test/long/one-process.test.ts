import { once } from 'node:events'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer, type ServerProcess, startServer } from '../support/processes.ts'
import { openSocket, readAnswer } from '../support/sockets.ts'

// Shutdown of a single process, and reasons not to start.

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

let server: ServerProcess | undefined
afterEach(() => server?.stop('SIGKILL'))

async function start(settings: Record<string, string> = {}): Promise<ServerProcess> {
  server = await mustStartServer({ ...database.settings, ...settings })
  return server
}

const isClosed = ({ url }: ServerProcess) =>
  fetch(`${url}/health`).then(
    () => false,
    () => true,
  )

test('service finishes running requests on SIGTERM and exits with 0', async () => {
  const server = await start({ SHUTDOWN_SECONDS: '60' })
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
  expect(await readAnswer(running)).toContain('HTTP/1.1 200')
  coming.write('host: x\r\n\r\n')
  const answer = await readAnswer(coming)
  expect(answer).toContain('HTTP/1.1 200')
  expect(answer.toLowerCase()).toContain('connection: close')
  expect(await ended).toBe(0)
})

test('service does not wait for idle connections to exit', async () => {
  const server = await start()
  const [unused, kept] = await Promise.all([openSocket(server.url), openSocket(server.url)])
  kept.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
  expect(await readAnswer(kept)).toContain('HTTP/1.1 200')
  const closed = Promise.all([once(unused, 'close'), once(kept, 'close')])
  expect(await server.stop()).toBe(0)
  await closed
})

test('service exits within its deadline with a request that never ends', async () => {
  const server = await start({ SHUTDOWN_SECONDS: '1' })
  const socket = await openSocket(server.url)
  socket.write(
    'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
  )
  await fetch(`${server.url}/health`)
  expect(await server.stop()).toBe(1)
  socket.destroy()
})

test('service starts on the sandbox in production only if allowed', async () => {
  const production = { NODE_ENV: 'production', ALLOW_MAIL_TO_FILES: 'true' }
  expect(await startServer({ ...database.settings, ...production })).toMatchObject({ code: 1 })
  await start({ ...production, ALLOW_SANDBOX_PAYMENTS: 'true' })
})
