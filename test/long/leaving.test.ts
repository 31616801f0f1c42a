import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { aCatalogue } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { mustStartServer, type ServerProcess } from '../support/processes.ts'
import { openSale, type Sale } from '../support/sale.ts'

// Clients that keep their connections, as a load balancer does, while the built service is told to end. One that is told
// that its connection ends goes to another instance, and comes back no more.

const clients = 60

let database: TestDatabase
let sale: Sale
let server: ServerProcess
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale(aCatalogue(), { database })
})
afterEach(() => server?.stop('SIGKILL'))
afterAll(async () => {
  await sale.close()
  await database.drop()
})

type Told = { answered: number; left: number; resets: string[]; statuses: Set<number | undefined> }

const ask = async (url: string, agent: Agent | false): Promise<IncomingMessage> => {
  const [answer] = await once(get(url, { agent, headers: sale.channel }), 'response')
  await once(answer.resume(), 'end')
  return answer
}

/** Clients that ask on until they are told to go elsewhere, or nothing listens any more. */
async function keepAsking(isOver: () => boolean): Promise<Told> {
  const told: Told = { answered: 0, left: 0, resets: [], statuses: new Set() }
  const client = async (number: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (;;) {
      const path = number % 2 ? '/events' : '/health'
      const answer = await ask(`${server.url}${path}`, agent).catch(({ code }: NodeJS.ErrnoException) => code)
      if (typeof answer !== 'object') {
        if (answer !== 'ECONNREFUSED' || !isOver()) told.resets.push(String(answer))
        break
      }
      told.answered++
      told.statuses.add(answer.statusCode)
      if (answer.headers.connection === 'close') {
        told.left++
        break
      }
      await pause(number % 7)
    }
    agent.destroy()
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return told
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
  'nobody is cut off while $processes of them leave, and who comes meanwhile is answered',
  async ({ processes }) => {
    const WEB_CONCURRENCY = processes
    const { asked, ended, seconds } = await leaveUnderLoad({
      DRAIN_SECONDS: '3',
      ...(processes === '1' ? {} : { WEB_CONCURRENCY }),
    })
    await pause(500)
    // The port is open, for those who have not heard yet.
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

test('without time to leave some are cut off: the control of the test above', async () => {
  const cut: number[] = []
  // As a rule once is enough.
  for (let again = 0; again < 5 && !cut.some(Boolean); again++) {
    const { asked, ended } = await leaveUnderLoad({ DRAIN_SECONDS: '0' })
    cut.push((await asked).resets.length)
    expect(await ended).toBe(0)
  }
  expect(cut.some(Boolean)).toBe(true)
})
