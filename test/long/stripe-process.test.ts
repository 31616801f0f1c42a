import { once } from 'node:events'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { importCatalogue } from '../../src/domain/import/import-catalogue.ts'
import { payments } from '../../src/domain/payment/table.ts'
import type { OpenDatabase } from '../../src/engine/database/database.ts'
import { anEntry } from '../support/checkouts.ts'
import { aCatalogue, anEvent, aRateOf, channelHeaders } from '../support/factories.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { formType } from '../support/payment-page-buyer.ts'
import { mustStartServer, type ServerProcess } from '../support/processes.ts'
import { movePayments } from '../support/queued-payments.ts'
import { type StubStripe, startStubStripe, stripeSettings } from '../support/stub-stripe.ts'

// The built service with a stub of Stripe, killed between a payment and its webhook.

let testDatabase: TestDatabase
let database: OpenDatabase
let fake: StubStripe
let server: ServerProcess
let channel: Record<string, string>
const start = () => mustStartServer({ ...testDatabase.settings, ...stripeSettings(fake.url) })

beforeAll(async () => {
  testDatabase = await createTestDatabase()
  database = await testDatabase.open()
  fake = await startStubStripe()
  await importCatalogue(database.db, aCatalogue({ events: [anEvent({ ticket_rates: [aRateOf(100)] })] }))
  channel = await channelHeaders(database.db)
  server = await start()
})
afterAll(async () => {
  await server?.stop('SIGKILL')
  await fake?.close()
  await database?.close()
  await testDatabase?.drop()
})

const post = (url: string, type: string, body: string) =>
  fetch(url, { method: 'POST', redirect: 'manual', body, headers: { ...channel, 'content-type': type } })

/** Checks out and presses Pay. Returns the payment and its session. */
async function begin() {
  const checkout = { ticket_rate_id: 'rate_1', tickets: [anEntry('price_1')] }
  const answer = await post(`${server.url}/tickets/checkout`, 'application/json', JSON.stringify(checkout))
  const { data } = (await answer.json()) as { data: { payment_id: string; payment_url: string } }
  const { status, headers } = await post(
    `${server.url}${new URL(data.payment_url).pathname}`,
    formType,
    'action=pay',
  )
  const session = fake.sessionFor(data.payment_id)
  expect([status, headers.get('location')]).toEqual([303, session.url])
  return { id: data.payment_id, session }
}
const isPayment = (id: string) => eq(payments.id, id)
const statusOf = async (id: string) => {
  const [row] = await database.db.select().from(payments).where(isPayment(id))
  return row?.status
}

test('a payment whose webhook meets a stopped service is paid once it restarts', async () => {
  const { id, session } = await begin()
  const delivery = fake.deliverTo(() => server.url)
  const ended = once(server.child, 'close')
  server.child.kill('SIGKILL')
  await ended
  fake.pay(session.id)
  server = await start()
  await expect.poll(() => statusOf(id)).toBe('paid')
  await expect.poll(() => delivery.sent()).toBe(1)
  await delivery.stop()
})

test('a session of an ended hold is expired by the service', async () => {
  const { id, session } = await begin()
  await movePayments(database.db, isPayment(id), { expiresAt: sql`now()` })
  await expect.poll(() => fake.sessions.get(session.id)?.status).toBe('expired')
  await expect.poll(() => statusOf(id)).toBe('expired')
})
