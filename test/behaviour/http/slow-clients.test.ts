import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { defaultTimeouts } from '../../../src/engine/http/connection-limits.ts'
import { shared, startGateway } from '../../support/harness.ts'
import { openSocket, readAnswer } from '../../support/sockets.ts'

// Clients that send as slowly as they can, on as many connections as they can.

const timeouts = { headersMs: 500, requestMs: 1000, checkMs: 100 }
const gateway = shared(() => startGateway({ listen: true, timeouts, settings: { MAX_CONNECTIONS: '4' } }))

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

describe('many connections', () => {
  async function startWith(settings: Record<string, string>) {
    const gateway = await startGateway({ listen: true, settings })
    const opened: Socket[] = []
    // Without a client, a request whose body never comes holds up the end for half a minute.
    onTestFinished(async () => {
      for (const socket of opened) socket.destroy()
      await gateway.close()
    })
    return async (localAddress?: string) => {
      const socket = await openSocket(gateway.url, localAddress)
      opened.push(socket)
      return socket
    }
  }
  const isHealthy = async (socket: Socket) => {
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')
    return (await readAnswer(socket)).startsWith('HTTP/1.1 200 ')
  }
  /** Sends a request whose body never comes. */
  const keepBusy = async (socket: Socket) => {
    socket.write(`${head}content-length: 9\r\nexpect: 100-continue\r\n\r\n`)
    expect(await readAnswer(socket)).toContain('100 Continue')
  }

  test('over MAX_CONNECTIONS they are dropped while all are busy, and accepted once one has closed', async () => {
    const open = await startWith({ MAX_CONNECTIONS: '4' })
    const full = await Promise.all(Array.from({ length: 4 }, () => open()))
    await Promise.all(full.map(keepBusy))
    for (let count = 0; count < 3; count++) await expect(open().then(isHealthy)).rejects.toThrow()
    full[1]?.destroy()
    await expect.poll(() => open().then(isHealthy, () => false)).toBe(true)
    expect(full.map(({ destroyed }) => destroyed)).toEqual([false, true, false, false])
  })

  test('over MAX_CONNECTIONS the longest idle one goes, also one that is kept alive', async () => {
    const open = await startWith({ MAX_CONNECTIONS: '3' })
    const [busy, silent, kept] = [await open(), await open(), await open()]
    await keepBusy(busy)
    expect(await isHealthy(kept)).toBe(true)
    const closed = [once(silent, 'close')]
    const first = await open()
    await Promise.all(closed)
    expect(await isHealthy(first)).toBe(true)
    const keptClosed = once(kept, 'close')
    expect(await isHealthy(await open())).toBe(true)
    await keptClosed
    expect(busy.destroyed).toBe(false)
  })

  test('an address has no more than CONNECTIONS_PER_ADDRESS, and takes none of others', async () => {
    const open = await startWith({ MAX_CONNECTIONS: '6', CONNECTIONS_PER_ADDRESS: '3' })
    const other = await open('127.0.0.3')
    const crowd: Socket[] = []
    for (let count = 0; count < 12; count++) crowd.push(await open('127.0.0.2'))
    await expect.poll(() => crowd.filter(({ destroyed }) => !destroyed).length).toBe(3)
    expect(crowd.slice(-3).map(({ destroyed }) => destroyed)).toEqual([false, false, false])
    expect(await isHealthy(other)).toBe(true)
    expect(await isHealthy(await open('127.0.0.4'))).toBe(true)
  })

  test('behind a proxy, whose address all connections have, only MAX_CONNECTIONS counts', async () => {
    const open = await startWith({
      ...{ MAX_CONNECTIONS: '6', CONNECTIONS_PER_ADDRESS: '3' },
      TRUST_PROXY: '1',
    })
    const all = await Promise.all(Array.from({ length: 5 }, () => open()))
    for (const socket of all) expect(await isHealthy(socket)).toBe(true)
  })
})
