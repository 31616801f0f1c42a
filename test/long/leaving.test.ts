import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer, type ServerProcess } from '../support/processes.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Clients with keep-alive connections, like those of a load balancer, while the built service shuts down. A
// client that receives `connection: close` moves to another instance.

const clients = 60

let database: TestDatabase
let sale: Sale
let server: ServerProcess
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale({ database })
})
afterEach(() => server?.stop('SIGKILL'))
afterAll(async () => {
  await sale.close()
  await database.drop()
})

type Results = { answered: number; left: number; resets: string[]; statuses: Set<number | undefined> }

const ask = async (url: string, agent: Agent | false): Promise<IncomingMessage> => {
  const [answer] = await once(get(url, { agent, headers: sale.channel }), 'response')
  await once(answer.resume(), 'end')
  return answer
}

/** Runs clients that send requests until they receive `connection: close` or nothing listens any more. */
async function keepAsking(isOver: () => boolean): Promise<Results> {
  const results: Results = { answered: 0, left: 0, resets: [], statuses: new Set() }
  const client = async (number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (;;) {
      const path = number % 2 ? '/events' : '/health'
      const answer = await ask(`${server.url}${path}`, agent).catch(({ code }: NodeJS.ErrnoException) => code)
      if (typeof answer !== 'object') {
        if (answer !== 'ECONNREFUSED' || !isOver()) results.resets.push(String(answer))
        break
      }
      results.answered++
      results.statuses.add(answer.statusCode)
      if (answer.headers.connection === 'close') {
        results.left++
        break
      }
      await pause(number % 7)
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return results
}

async function leaveUnderLoad(settings: Record<string, string>) {
  server = await mustStartServer({ ...database.settings, RATE_LIMIT: 'off', ...settings })
  if (settings.WEB_CONCURRENCY)
    await expect.poll(() => server.output().split('Server listening at').length - 1).toBe(2)
  let isOver = false
  const asked = keepAsking(() => isOver)
  await pause(1_000)
  isOver = true
  const beganAt = performance.now()
  const ended = server.stop()
  return { asked, ended, seconds: ended.then(() => (performance.now() - beganAt) / 1000) }
}

test.each([{ processes: '1' }, { processes: '2' }])(
  'shutdown of $processes processes resets no connection and serves requests meanwhile',
  async ({ processes }) => {
    const WEB_CONCURRENCY = processes
    const { asked, ended, seconds } = await leaveUnderLoad({
      DRAIN_SECONDS: '3',
      ...(processes === '1' ? {} : { WEB_CONCURRENCY }),
    })
    await pause(500)
    // The port stays open for clients that still send requests here.
    const ready = await ask(`${server.url}/ready`, false)
    expect([ready.statusCode, ready.headers.connection]).toEqual([503, 'close'])
    expect((await ask(`${server.url}/events`, false)).statusCode).toBe(200)
    const { resets, left, statuses, answered } = await asked
    expect(resets).toEqual([])
    expect(left).toBe(clients)
    expect(statuses).toEqual(new Set([200]))
    expect(answered).toBeGreaterThan(clients)
    expect(await ended).toBe(0)
    expect(await seconds).toBeGreaterThan(2.5)
  },
)

test('control: without a drain period some connections are reset', async () => {
  const cut: number[] = []
  // One try usually suffices.
  for (let again = 0; again < 5 && !cut.some(Boolean); again++) {
    const { asked, ended } = await leaveUnderLoad({ DRAIN_SECONDS: '0' })
    cut.push((await asked).resets.length)
    expect(await ended).toBe(0)
  }
  expect(cut.some(Boolean)).toBe(true)
})
