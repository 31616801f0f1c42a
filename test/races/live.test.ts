import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { scanTicket } from '../support/door.ts'
import { aCatalogueOfTwo } from '../support/factories.ts'
import { createTestDatabase, type Gateway, startGateway, type TestDatabase } from '../support/harness.ts'
import { leftIn, openStream, subscribe, watchRates } from '../support/live.ts'
import { mustStartServer } from '../support/processes.ts'
import { openSale, type Sale } from '../support/sale.ts'
import { holdTickets } from '../support/tickets.ts'

// One process sells, another one streams.

let database: TestDatabase
let sale: Sale
let other: Gateway
const catalogue = aCatalogueOfTwo(1_000)
beforeAll(async () => {
  database = await createTestDatabase()
  sale = await openSale(catalogue, { database })
  other = await startGateway({ database, listen: true })
})
afterAll(async () => {
  await Promise.all([sale.close(), other.close()])
  await database.drop()
})

const checkOutOne = async () => {
  const { tickets } = await holdTickets(sale)
  return tickets[0]?._id ?? ''
}
const listeners = sql`from pg_stat_activity
  where application_name = 'boxoffice announcements' and datname = current_database()`
const countListeners = async () => {
  const rows = (await sale.db.execute(sql`select count(*)::integer as count ${listeners}`)) as unknown as {
    count: number
  }[]
  return rows[0]?.count
}

test('a sale of one process is told by another before its next look', async () => {
  const watched = watchRates(other.url, sale.channel, 'rate_1')
  await watched.until((state) => leftIn(state) === 1_000)
  await expect.poll(countListeners).toBe(2)
  const waits: number[] = []
  for (let sold = 1; sold <= 8; sold++) {
    await checkOutOne()
    const at = performance.now()
    await watched.until((state) => leftIn(state) === 1_000 - sold)
    waits.push(performance.now() - at)
  }
  // The look comes each second: half a second on average.
  expect(waits.sort((one, next) => one - next)[3]).toBeLessThan(400)
})

test('nothing is lost while listening connections are killed', async () => {
  const event = catalogue.events?.[0]?._id
  const rate = watchRates(other.url, sale.channel, 'rate_1')
  await rate.until(() => true)
  const ticketId = await checkOutOne()
  const checkIns = await openStream(other.url, sale.integration.v2, {
    query: 'subscription ($id: ID!) { checkIns(eventId: $id) { node { people } } }',
    variables: { id: event },
  })
  const changes = subscribe<{ changes: { cursor: string } }>(other.url, sale.channel, {
    query: 'subscription { changes(from: { at: OLDEST }) { cursor } }',
  })
  let isOver = false
  const killing = (async () => {
    while (!isOver) {
      await sale.db.execute(sql`select pg_terminate_backend(pid) ${listeners}`)
      await wait(20)
    }
  })()
  const people = Array.from({ length: 20 }, (_, index) => index + 1)
  for (const count of people) {
    await checkOutOne()
    await scanTicket(sale, { ticketId, people: count })
  }
  const rows = (await sale.db.execute(
    sql`select 1000 - held as left from stock where id = 'rate_1' and mode = 'live'`,
  )) as unknown as { left: number }[]
  await rate.until((state) => leftIn(state) === rows[0]?.left)
  const told = () => [...checkIns.text().matchAll(/"people":(\d+)/g)].map(([, count]) => Number(count))
  await expect.poll(() => told().sort((one, next) => one - next)).toEqual(people)
  isOver = true
  await killing
  expect(changes.failure()).toBe(null)
  await expect.poll(countListeners).toBe(2)
})

test('a process that ends lets its clients connect again, and exits in time', async () => {
  const server = await mustStartServer({ ...database.settings, SHUTDOWN_SECONDS: '5' })
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const stream = await openStream(server.url, sale.channel, {
    query: 'subscription { ticketRates(of: { ids: ["rate_1"] }) { availability { available } } }',
  })
  await expect.poll(stream.text).toContain('event: next')
  expect(await server.stop()).toBe(0)
  await expect.poll(stream.isOver).toBe(true)
  expect(stream.text()).not.toContain('event: complete')
})
