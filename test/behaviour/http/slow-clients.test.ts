import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultTimeouts } from '../../../src/http/connection-limits.ts'
import { type Gateway, startGateway } from '../../support/harness.ts'
import { openSocket, readAnswer } from '../../support/sockets.ts'

// Clients that send as slowly as they can, on as many connections as they can.

let gateway: Gateway
beforeAll(async () => {
  const timeouts = { headersMs: 500, requestMs: 1000, checkMs: 100 }
  gateway = await startGateway({ listen: true, timeouts, settings: { MAX_CONNECTIONS: '4' } })
})
afterAll(() => gateway.close())

/** Sends `start`, then `drip` repeatedly, and returns all that the service sends until it closes the
 *  connection. */
async function endOf(socket: Socket, start: string, drip: string) {
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  const closed = once(socket, 'close').then(() => true)
  socket.write(start)
  const dripping = setInterval(() => socket.write(drip), 50)
  await closed
  clearInterval(dripping)
  return received
}

const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n'
test.each([
  ['nothing at all', '', ''],
  ['a request line, letter by letter', 'GET /', 'a'],
  ['headers without an end', 'GET /health HTTP/1.1\r\nhost: x\r\n', 'a: b\r\n'],
  ['a body of the length that was said', `${head}content-length: 100000\r\n\r\n`, ' '],
  ['chunks without an end', `${head}transfer-encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
])('a slow client that sends %s is disconnected', async (_what, start, drip) => {
  const received = await endOf(await openSocket(gateway.url), start, drip)
  expect(received === '' || received.startsWith('HTTP/1.1 408 ')).toBe(true)
})

test('a slow client that keeps its own side open is disconnected soon after its 408', async () => {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).on('error', () => {})
  socket.write('GET /health HTTP/1.1\r\n')
  expect(await readAnswer(socket)).toMatch(/^HTTP\/1\.1 408 /)
  const open = () =>
    new Promise((resolve) => gateway.app.server.getConnections((_error, count) => resolve(count)))
  await expect.poll(open).toBe(0)
  expect(socket.writable).toBe(true)
  socket.destroy()
})

test('control: a client in time is answered repeatedly on one connection', async () => {
  const socket = await openSocket(gateway.url)
  for (let request = 0; request < 4; request++) {
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(await readAnswer(socket)).toMatch(/^HTTP\/1\.1 200 /)
    await pause(400)
  }
  socket.destroy()
})

test('default timeouts disconnect the slowest client within 35 seconds', () => {
  const { headersMs, requestMs, checkMs } = defaultTimeouts
  // A client that is late just after one check is found at the next, and has a second to read the response.
  expect(Math.max(headersMs, requestMs) + checkMs + 1000).toBeLessThan(35_000)
  // Node takes the smaller of the two for headers.
  expect(headersMs).toBeLessThanOrEqual(requestMs)
})

test('default timeouts are set on the server', async () => {
  const plain = await startGateway()
  const { headersTimeout, requestTimeout } = plain.app.server
  await plain.close()
  expect({ headersTimeout, requestTimeout }).toEqual({ headersTimeout: 15_000, requestTimeout: 30_000 })
})

test('connections over MAX_CONNECTIONS are dropped, and accepted again once others close', async () => {
  // No other connection is open by now.
  const full = await Promise.all(Array.from({ length: 4 }, () => openSocket(gateway.url)))
  const isHealthy = async (socket: Socket) => {
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
    return (await readAnswer(socket)).startsWith('HTTP/1.1 200 ')
  }
  for (const socket of full) expect(await isHealthy(socket)).toBe(true)
  for (let count = 0; count < 3; count++)
    await expect(openSocket(gateway.url).then(isHealthy)).rejects.toThrow()
  // Existing connections are still served.
  expect(await isHealthy(full[0] as Socket)).toBe(true)
  full[1]?.destroy()
  await expect
    .poll(() =>
      openSocket(gateway.url)
        .then(isHealthy)
        .catch(() => false),
    )
    .toBe(true)
  for (const socket of full) socket.destroy()
})
